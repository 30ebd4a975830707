import type { FastifyInstance } from 'fastify'
import { createServer } from '../http/create-server.ts'
import { addRoutes } from './routes.ts'
import { UsageError } from '../runtime/usage-error.ts'
import { openService } from './open-service.ts'
import { resolveOptions } from './service-settings.ts'
import type { TokenServiceOptions } from './token-service-options.ts'
import type { RunningTokenService } from './running-token-service.ts'
import { serveTokenService } from './serve-token-service.ts'

/** Creates the service without listening; its storage opens when the server becomes ready. */
export function createTokenService(options: TokenServiceOptions = {}): FastifyInstance {
  for (const option of ['sandbox', 'adminPort'] as const) {
    if (options[option] !== undefined && options[option] !== false) {
      throw new UsageError(
        `createTokenService does not support ${option}, which has its own listener. Use startTokenService.`,
      )
    }
  }
  const resolved = resolveOptions(options)
  const server = createServer(resolved)
  server.register(async (endpoints) => {
    const service = await openService(resolved)
    endpoints.addHook('onClose', () => service.context.close())
    addRoutes(endpoints, service)
  })
  return server
}

/**
 * Starts the token service; resolves once it is listening.
 *
 * @throws {@link UsageError} if the port is in use, or the storage cannot be opened
 */
export async function startTokenService(options: TokenServiceOptions = {}): Promise<RunningTokenService> {
  return serveTokenService(resolveOptions(options))
}
