import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { assembleTokenService } from './create-token-service.ts'
import { UsageError } from './platform/usage-error.ts'
import { resolveOptions, type TokenServiceOptions } from './service/token-service-options.ts'

export interface RunningTokenService {
  /** The base URL of the service's endpoints, which clients are configured with. */
  readonly authUrl: string
  /** The base URL of the sandbox's control endpoints. */
  readonly sandboxUrl?: string | undefined
  /**
   * Creates a link for the portal's first developer, who becomes the administrator. The link works once, for 15
   * minutes. Returns `undefined` once there is an administrator, or without a portal.
   */
  createSetupLink(): Promise<string | undefined>
  /**
   * Creates a link that sets a new password for that developer. The link works once, for 15 minutes.
   *
   * @throws {@link UsageError} if there is no such developer, or no portal
   */
  createPasswordLink(developerName: string): Promise<string>
  /**
   * Finishes the pending requests, writes pending activity and stops.
   *
   * @param options - `drainSeconds`: how long the service goes on before that, while `/readyz` responds with 503, so that
   * load balancers stop sending requests. Default 0
   */
  close(options?: { readonly drainSeconds?: number | undefined }): Promise<void>
}

/**
 * Starts the token service; resolves when it listens.
 *
 * @throws {@link UsageError} if the port is in use, or the storage cannot be opened
 */
export async function startTokenService(options: TokenServiceOptions = {}): Promise<RunningTokenService> {
  const resolved = resolveOptions(options)
  const { portal } = resolved
  const { server, sandbox, context, announceStop } = assembleTokenService(resolved)
  const close = async ({ drainSeconds = 0 } = {}) => {
    announceStop()
    if (drainSeconds > 0) await delay(drainSeconds * 1000)
    await server.close()
    await sandbox?.server.close()
  }
  try {
    const authUrl = await listen(server, options.host ?? '127.0.0.1', options.port ?? 0)
    const sandboxUrl = sandbox && (await listen(sandbox.server, '127.0.0.1', resolved.sandbox?.port ?? 0))
    const base = resolved.publicUrl ?? authUrl
    return {
      authUrl,
      sandboxUrl,
      async createSetupLink() {
        if (!portal) return undefined
        await context().storage.opened
        const token = await context().accountLinks.createSetupInvitation()
        return token && `${base}${portal.joinPath(token)}`
      },
      async createPasswordLink(name) {
        if (!portal) throw new UsageError('This service has no developer portal.')
        await context().storage.opened
        const developer = await context().storage.developers.find(name.normalize('NFKC').toLowerCase())
        if (!developer) throw new UsageError(`The developer portal has no developer named "${name}".`)
        const token = await context().accountLinks.createPasswordReset(developer)
        return `${base}${portal.passwordPath(token)}`
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await server.listen({ host, port })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') throw new UsageError(`Port ${port} on ${host} is in use. Choose another port.`)
    if (code === 'EACCES') {
      throw new UsageError(`No permission to listen on port ${port} of ${host}. Choose a port above 1023.`)
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new UsageError(`${host} is not an address of this machine.`)
    }
    throw error
  }
}
