import type { FastifyInstance } from 'fastify'
import { createAdminServer } from './admin/admin-server.ts'
import { allowOrigins } from './http/allow-origins.ts'
import { createServer } from './http/create-server.ts'
import { createErrorRecorder, handleErrors } from './http/error-handling.ts'
import { fastTokenRoute } from './http/fast-token-route.ts'
import { createFailureLog } from './http/failure-log.ts'
import { healthEndpoints } from './http/health-endpoints.ts'
import { homeEndpoint } from './http/home-endpoint.ts'
import { introspectionEndpoint } from './http/introspection-endpoint.ts'
import { metadataEndpoint } from './http/metadata-endpoint.ts'
import { metricsEndpoint } from './http/metrics-endpoint.ts'
import { acceptForms } from './http/oauth-routes.ts'
import { openapiEndpoint } from './http/openapi-endpoint.ts'
import { logRequests } from './http/request-log.ts'
import { observeRequests, type RequestObserver } from './http/request-outcome.ts'
import { revocationEndpoint } from './http/revocation-endpoint.ts'
import { tokenEndpoint } from './http/token-endpoint.ts'
import { UsageError } from './platform/usage-error.ts'
import { createSandbox, type Sandbox } from './sandbox/sandbox.ts'
import { openServiceContext } from './service/open-service-context.ts'
import type { ServiceContext } from './service/service-context.ts'
import { clientAddress } from './service/trust-proxy.ts'
import { createTokenIssuer } from './tokens/issue-token.ts'
import {
  resolveOptions,
  type ResolvedOptions,
  type TokenServiceOptions,
} from './service/token-service-options.ts'

/** Creates the service without listening; its storage opens when the server becomes ready. */
export function createTokenService(options: TokenServiceOptions = {}): FastifyInstance {
  if (options.sandbox) throw new UsageError('The sandbox has its own listener. Use startTokenService.')
  if (options.admin) throw new UsageError('Administration has its own listener. Use startTokenService.')
  const { server } = assembleTokenService(resolveOptions(options))
  // Routes that the caller adds may have schemas.
  return server.setSchemaController({ compilersFactory: {} })
}

export function assembleTokenService(options: ResolvedOptions): {
  server: FastifyInstance
  /** The server for administrators. */
  admin?: FastifyInstance
  sandbox?: Sandbox
  /** Once the server is ready. */
  context: () => ServiceContext
  /** From now on the service reports that it is not ready. */
  announceStop: () => void
} {
  const sandbox = options.sandbox && createSandbox(options.clock)
  const clock = sandbox?.clock ?? options.clock
  const server = createServer(options)
  const admin = options.admin && createAdminServer(options.admin.token)
  const logFailure = createFailureLog(server.log)
  let context: ServiceContext
  let isStopping = false
  server.register(async (endpoints) => {
    context = await openServiceContext({ ...options, clock }, logFailure)
    endpoints.addHook('onClose', () => context.close())
    await addEndpoints(endpoints, context, options, {
      sandbox,
      admin,
      logFailure,
      isStopping: () => isStopping,
    })
  })
  return {
    server,
    context: () => context,
    announceStop: () => void (isStopping = true),
    ...(admin && { admin }),
    ...(sandbox && { sandbox }),
  }
}

async function addEndpoints(
  server: FastifyInstance,
  context: ServiceContext,
  { errors: shape, publicUrl, metrics, logger, portal, corsOrigins, trustProxy }: ResolvedOptions,
  {
    sandbox,
    admin,
    logFailure,
    isStopping,
  }: {
    sandbox: Sandbox | undefined
    admin: FastifyInstance | undefined
    logFailure: (error: unknown) => void
    isStopping: () => boolean
  },
): Promise<void> {
  const { activity, storage } = context
  const observers: RequestObserver[] = []
  if (logger) observers.push(logRequests(logger))
  if (metrics) observers.push(await metricsEndpoint(admin ?? server))
  observeRequests(server, observers)

  healthEndpoints(server, storage, isStopping)
  const issueToken = createTokenIssuer(context)
  if (!sandbox && (trustProxy === false || publicUrl !== undefined)) {
    const recordError = createErrorRecorder({ shape, activity, logFailure })
    fastTokenRoute(server, {
      issueToken,
      recordError,
      shape,
      publicUrl,
      clientAddress: clientAddress(trustProxy),
      observers,
    })
  }
  homeEndpoint(server, { publicUrl, portalPath: portal && (portal.homePath ?? '/portal') })
  if (portal) server.register(portal.plugin, { service: context })
  server.register(async (oauth) => {
    await allowOrigins(oauth, corsOrigins)
    metadataEndpoint(oauth, publicUrl)
    openapiEndpoint(oauth, shape, publicUrl)
    await acceptForms(oauth)
    handleErrors(oauth, { shape, activity, logFailure })
    sandbox?.control(oauth, context)
    tokenEndpoint(oauth, issueToken, publicUrl)
    oauth.register(async (standard) => {
      // RFC 7662 and RFC 7009 define only one error format.
      handleErrors(standard, { shape: 'rfc6749', activity, logFailure })
      introspectionEndpoint(standard, context)
      revocationEndpoint(standard, context)
    })
  })
}
