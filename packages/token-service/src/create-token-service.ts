import Fastify, { type FastifyInstance } from 'fastify'
import { seedApplications } from './applications/seed-applications.ts'
import { createApplicationAuthenticator } from './authentication/authenticate-application.ts'
import { createResourceServerAuthenticator } from './authentication/authenticate-resource-server.ts'
import { handleErrors, sendRefusal } from './http/error-handling.ts'
import { acceptForms } from './http/form-routes.ts'
import { introspectionEndpoint } from './http/introspection-endpoint.ts'
import { ProtocolError } from './http/protocol-error.ts'
import { revocationEndpoint } from './http/revocation-endpoint.ts'
import { tokenEndpoint } from './http/token-endpoint.ts'
import { createKeyring, createRandomKey } from './keys/keyring.ts'
import { createMemoryStorage } from './storage/memory/memory-storage.ts'
import { resolveOptions, type TokenServiceOptions } from './token-service-options.ts'

/** Builds the service without listening yet; it opens its storage when it gets ready. */
export function createTokenService(options: TokenServiceOptions = {}): FastifyInstance {
  const { errors, applications, resourceServers, keys, clock } = resolveOptions(options)
  const keyring = createKeyring(keys ?? [createRandomKey()])
  const server = Fastify({ bodyLimit: 16 * 1024 })
  handleErrors(server, errors)
  server.setNotFoundHandler((_request, reply) => sendRefusal(reply, new ProtocolError('not_found'), errors))

  server.get('/healthz', async () => ({ status: 'ok' }))

  server.register(async (endpoints) => {
    const storage = createMemoryStorage()
    const { tokens } = storage
    await seedApplications(storage.applications, keyring, applications, clock.now())
    const authenticate = createApplicationAuthenticator(storage.applications, keyring, clock)
    const authenticateCaller = createResourceServerAuthenticator(resourceServers, keyring)

    acceptForms(endpoints)
    tokenEndpoint(endpoints, { authenticate, tokens, clock })
    endpoints.register(async (standard) => {
      // RFC 7662 and RFC 7009 know but one shape of error.
      handleErrors(standard, 'rfc6749')
      introspectionEndpoint(standard, { authenticate: authenticateCaller, tokens, clock })
      revocationEndpoint(standard, { authenticate, tokens })
    })
    endpoints.addHook('onClose', () => storage.close())
  })
  return server
}
