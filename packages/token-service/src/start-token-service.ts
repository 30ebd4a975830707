import type { FastifyInstance } from 'fastify'
import { assembleTokenService } from './create-token-service.ts'
import { resolveOptions, type TokenServiceOptions } from './token-service-options.ts'
import { UserMistake } from './user-mistake.ts'

export interface RunningTokenService {
  /** What clients are configured with: the address the service's paths are under. */
  readonly authUrl: string
  /** Where a test scripts the sandbox. */
  readonly sandboxUrl?: string | undefined
  /**
   * Makes a link by which the first developer joins the portal, good once and for 15 minutes; `undefined` once there
   * is a developer.
   */
  createSetupLink(): Promise<string | undefined>
  /**
   * Makes a link by which the developer of that name sets a new password, good once and for 15 minutes.
   *
   * @throws {@link UserMistake} if there is none of that name
   */
  createPasswordLink(developerName: string): Promise<string>
  /** Finishes the requests under way, writes what is still to be written, then stops. */
  close(): Promise<void>
}

/**
 * Starts the token service and answers once it listens.
 *
 * @throws {@link UserMistake} if the port is taken, or the storage cannot be used
 */
export async function startTokenService(options: TokenServiceOptions = {}): Promise<RunningTokenService> {
  const resolved = resolveOptions(options)
  const { server, sandbox, context } = assembleTokenService(resolved)
  const close = async () => {
    await server.close()
    await sandbox?.control.close()
  }
  try {
    const authUrl = await listen(server, options.host ?? '127.0.0.1', options.port ?? 0)
    const sandboxUrl = sandbox && (await listen(sandbox.control, '127.0.0.1', resolved.sandbox?.port ?? 0))
    const base = resolved.publicUrl ?? authUrl
    return {
      authUrl,
      sandboxUrl,
      async createSetupLink() {
        const { createSetupPath } = await import('./portal/one-time-link.ts')
        await context().storage.opened
        const path = await createSetupPath(context())
        return path && `${base}${path}`
      },
      async createPasswordLink(name) {
        const { createPasswordPath } = await import('./portal/one-time-link.ts')
        await context().storage.opened
        const developer = await context().storage.developers.find(name.normalize('NFKC').toLowerCase())
        if (!developer) throw new UserMistake(`The developer portal knows nobody by the name "${name}".`)
        return `${base}${await createPasswordPath(context(), developer)}`
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
    if (code === 'EADDRINUSE') throw new UserMistake(`Port ${port} of ${host} is in use: choose another one.`)
    if (code === 'EACCES')
      throw new UserMistake(`Port ${port} of ${host} needs more rights: choose one over 1024.`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new UserMistake(`This machine has no address ${host} to listen on.`)
    }
    throw error
  }
}
