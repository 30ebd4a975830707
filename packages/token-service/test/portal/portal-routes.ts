import { createTokenService } from '@tokenwell/token-service'

export interface PortalRoute {
  readonly method: string
  /** With its parameters, such as `/portal/projects/:projectId`. */
  readonly url: string
  readonly access: unknown
}

/** Every page and form of the portal. */
export async function findRoutes(): Promise<PortalRoute[]> {
  const routes: PortalRoute[] = []
  const server = createTokenService({ portal: true })
  server.addHook('onRoute', ({ method, url, config }) => {
    const { access } = (config ?? {}) as { access?: string }
    if (access !== undefined && method !== 'HEAD') routes.push({ method: String(method), url, access })
  })
  await server.ready()
  await server.close()
  return routes
}
