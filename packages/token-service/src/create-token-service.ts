import type { RequestListener } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { createServer } from './http/create-server.ts'
import { fastTokenRoute } from './http/fast-token-route.ts'
import { addRoutes } from './http/routes.ts'
import { UsageError } from './platform/usage-error.ts'
import { openService } from './service/open-service.ts'
import { resolveOptions, type TokenServiceOptions } from './service/token-service-options.ts'

/** Creates the service without listening; its storage opens when the server becomes ready. */
export function createTokenService(options: TokenServiceOptions = {}): FastifyInstance {
  for (const option of ['sandbox', 'admin'] as const) {
    if (options[option]) {
      throw new UsageError(
        `createTokenService does not support ${option}, which has its own listener. Use startTokenService.`,
      )
    }
  }
  const resolved = resolveOptions(options)
  const server = createServer(resolved)
  let isClosing = false
  server.addHook('preClose', (done) => {
    isClosing = true
    done()
  })
  server.register(async (endpoints) => {
    const service = await openService(resolved)
    endpoints.addHook('onClose', () => service.context.close())
    addRoutes(endpoints, service)
    server.addHook('onReady', (done) => {
      const [routes] = server.server.listeners('request') as [RequestListener]
      server.server.removeAllListeners('request')
      server.server.on(
        'request',
        fastTokenRoute(service, routes, () => isClosing),
      )
      done()
    })
  })
  // Routes that the caller adds may have schemas.
  return server.setSchemaController({ compilersFactory: {} })
}
