import type { FastifyInstance } from 'fastify'
import { descriptionEndpoint } from './http/description-endpoint.ts'
import { createServer } from './http/create-server.ts'
import { handleErrors } from './http/error-handling.ts'
import { healthEndpoints } from './http/health-endpoints.ts'
import { introspectionEndpoint } from './http/introspection-endpoint.ts'
import { metadataEndpoint } from './http/metadata-endpoint.ts'
import { metricsEndpoint } from './http/metrics-endpoint.ts'
import { acceptForms } from './http/oauth-routes.ts'
import { logRequests } from './http/request-log.ts'
import { observeRequests, type RequestObserver } from './http/request-outcome.ts'
import { revocationEndpoint } from './http/revocation-endpoint.ts'
import { tokenEndpoint } from './http/token-endpoint.ts'
import { portalEndpoints } from './portal/portal-endpoints.ts'
import { referenceEndpoint } from './reference/reference-endpoint.ts'
import { createSandbox, type Sandbox } from './sandbox/sandbox.ts'
import { openServiceContext, type ServiceContext } from './service-context.ts'
import { resolveOptions, type ResolvedOptions, type TokenServiceOptions } from './token-service-options.ts'
import { UserMistake } from './user-mistake.ts'

/** Builds the service without listening yet; it opens its storage when it gets ready. */
export function createTokenService(options: TokenServiceOptions = {}): FastifyInstance {
  if (options.sandbox) throw new UserMistake('The sandbox has a listener of its own: use startTokenService.')
  return assembleTokenService(resolveOptions(options)).server
}

export function assembleTokenService(options: ResolvedOptions): {
  server: FastifyInstance
  sandbox?: Sandbox
  /** Once it is ready. */
  context: () => ServiceContext
} {
  const sandbox = options.sandbox && createSandbox(options.clock)
  const clock = sandbox?.clock ?? options.clock
  const server = createServer(options)
  let context: ServiceContext
  server.register(async (endpoints) => {
    context = await openServiceContext({ ...options, clock }, (error) => server.log.error(error))
    endpoints.addHook('onClose', () => context.close())
    await addEndpoints(endpoints, context, options, sandbox)
  })
  return { server, context: () => context, ...(sandbox && { sandbox }) }
}

async function addEndpoints(
  server: FastifyInstance,
  context: ServiceContext,
  { errors: shape, publicUrl, metrics, logger }: ResolvedOptions,
  sandbox: Sandbox | undefined,
): Promise<void> {
  const { activity, storage } = context
  const observers: RequestObserver[] = []
  if (logger) observers.push(logRequests(logger))
  if (metrics) observers.push(await metricsEndpoint(server))
  observeRequests(server, observers)

  healthEndpoints(server, storage)
  metadataEndpoint(server, publicUrl)
  descriptionEndpoint(server, shape, publicUrl)
  portalEndpoints(server, context, publicUrl)
  referenceEndpoint(server, shape, publicUrl)
  server.register(async (oauth) => {
    acceptForms(oauth)
    handleErrors(oauth, { shape, activity })
    sandbox?.take(oauth, context)
    tokenEndpoint(oauth, context)
    oauth.register(async (standard) => {
      // RFC 7662 and RFC 7009 know but one shape of error.
      handleErrors(standard, { shape: 'rfc6749', activity })
      introspectionEndpoint(standard, context)
      revocationEndpoint(standard, context)
    })
  })
}
