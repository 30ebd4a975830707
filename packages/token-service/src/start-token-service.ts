import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { adminEndpoints } from './admin/admin-endpoints.ts'
import { assembleTokenService } from './create-token-service.ts'
import { NotFoundError, UsageError } from './platform/usage-error.ts'
import type { ServiceContext } from './service/service-context.ts'
import {
  resolveOptions,
  type ResolvedOptions,
  type TokenServiceOptions,
} from './service/token-service-options.ts'

export interface RunningTokenService {
  /** The base URL of the service's endpoints, which clients are configured with. */
  readonly authUrl: string
  /** The base URL of the administrators' endpoints. */
  readonly adminUrl?: string | undefined
  /** The base URL of the sandbox's control endpoints. */
  readonly sandboxUrl?: string | undefined
  /**
   * Creates a link for the portal's first developer, who becomes the administrator. The link works only once and
   * expires after 15 minutes. Returns `undefined` once there is an administrator, or without a portal.
   */
  createSetupLink(): Promise<string | undefined>
  /**
   * Creates a link to set a new password for this developer. The link works only once and expires after 15 minutes.
   *
   * @throws {@link UsageError} if there is no such developer, or no portal
   */
  createPasswordLink(developerName: string): Promise<string>
  /**
   * Finishes the pending requests, writes pending activity and stops.
   *
   * @param options `drainSeconds`: how long the service continues before that, while `/readyz` responds with 503, so that
   * load balancers stop sending requests. Default 0
   */
  close(options?: { readonly drainSeconds?: number | undefined }): Promise<void>
}

/**
 * Starts the token service; resolves once it is listening.
 *
 * @throws {@link UsageError} if the port is in use, or the storage cannot be opened
 */
export async function startTokenService(options: TokenServiceOptions = {}): Promise<RunningTokenService> {
  const resolved = resolveOptions(options)
  const { server, admin, sandbox, context, announceStop } = assembleTokenService(resolved)
  const close = async ({ drainSeconds = 0 } = {}) => {
    announceStop()
    if (drainSeconds > 0) await delay(drainSeconds * 1000)
    await server.close()
    await admin?.close()
    await sandbox?.server.close()
  }
  try {
    const authUrl = await listen(server, options.host ?? '127.0.0.1', options.port ?? 0)
    const sandboxUrl = sandbox && (await listen(sandbox.server, '127.0.0.1', resolved.sandbox?.port ?? 0))
    const links = createPortalLinks(resolved, context(), authUrl)
    if (admin) adminEndpoints(admin, context(), links)
    const adminUrl =
      admin && (await listen(admin, resolved.admin?.host ?? '127.0.0.1', resolved.admin?.port ?? 0))
    return {
      authUrl,
      adminUrl,
      sandboxUrl,
      createSetupLink: () => links.createSetupLink(),
      createPasswordLink: (name) => links.createPasswordLink(name),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function createPortalLinks(
  { portal, publicUrl }: ResolvedOptions,
  { storage, accountLinks }: ServiceContext,
  authUrl: string,
) {
  const base = publicUrl ?? authUrl
  const requirePortal = () => {
    if (!portal) throw new NotFoundError('This service has no developer portal.')
    return portal
  }
  return {
    async createSetupLink() {
      if (!portal) return undefined
      await storage.opened
      const token = await accountLinks.createSetupInvitation()
      return token && `${base}${portal.joinPath(token)}`
    },
    async createInvitationLink() {
      const mounted = requirePortal()
      const administrator = (await storage.developers.list()).length === 0
      return `${base}${mounted.joinPath(await accountLinks.createInvitation({ administrator }))}`
    },
    async createPasswordLink(name: string) {
      const mounted = requirePortal()
      await storage.opened
      const developer = await storage.developers.find(name.normalize('NFKC').toLowerCase())
      if (!developer) throw new NotFoundError(`The developer portal has no developer named "${name}".`)
      return `${base}${mounted.passwordPath(await accountLinks.createPasswordReset(developer))}`
    },
  }
}

async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await server.listen({ host, port })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') throw new UsageError(`Port ${port} on ${host} is in use. Choose another port.`)
    if (code === 'EACCES') {
      throw new UsageError(`Port ${port} on ${host} requires elevated privileges. Choose a port above 1023.`)
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new UsageError(`${host} is not an address of this machine. Choose another address.`)
    }
    throw error
  }
}
