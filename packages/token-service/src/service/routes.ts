import type { FastifyInstance } from 'fastify'
import { injectFaults } from '../sandbox/inject-faults.ts'
import type { OpenService } from './open-service.ts'
import { allowOrigins } from '../http/allow-origins.ts'
import { createServer } from '../http/create-server.ts'
import { handleErrors } from '../http/error-handling.ts'
import { healthEndpoints } from '../http/health-endpoints.ts'
import { homeEndpoint, jwksEndpoint, metadataEndpoint, openapiEndpoint } from '../http/metadata-endpoints.ts'
import {
  acceptForms,
  introspectionEndpoint,
  revocationEndpoint,
  tokenEndpoint,
} from '../http/oauth-endpoints.ts'
import { metricsEndpoint } from '../http/metrics.ts'
import { baseUrl } from '../oauth/base-url.ts'
import { observeRequests } from '../http/request-outcome.ts'
import type { Clock } from '../runtime/clock.ts'

/** A Fastify server with all routes of a service. */
export function createRoutes(service: OpenService): FastifyInstance {
  const server = createServer(service.options)
  addRoutes(server, service)
  return server
}

export function addRoutes(server: FastifyInstance, service: OpenService): void {
  const { options, context, metrics, sandbox, observers, issueToken } = service
  const { format, publicUrl, portal, corsOrigins } = options
  const { activity, storage, logFailure } = context
  observeRequests(server, observers)
  if (publicUrl?.startsWith('https:')) requireHttps(server)
  closeConnectionsWhileStopping(server, service)
  if (sandbox) sendDate(server, sandbox.clock)
  if (metrics && options.adminPort === undefined) metricsEndpoint(server, metrics)
  healthEndpoints(server, context, () => service.isStopping)
  homeEndpoint(server, options)
  if (portal) {
    server.register(async (pages) => {
      const { addPortal } = await import('./add-portal.ts')
      const { featurePages } = await import('../features/all-pages.ts')
      addPortal(pages, context, featurePages)
    })
  }
  server.register(async (oauth) => {
    await allowOrigins(oauth, corsOrigins)
    metadataEndpoint(oauth, context)
    openapiEndpoint(
      oauth,
      (request) => baseUrl(request, context.publicUrl),
      async (url) => {
        const { apiDescription } = await import('../oauth/api-description.ts')
        return apiDescription(url, context.format)
      },
    )
    await acceptForms(oauth)
    handleErrors(oauth, { format, activity, logFailure })
    sandbox?.journal.observe(oauth)
    const alterationOf = sandbox && injectFaults(oauth, sandbox.script, storage.applications)
    jwksEndpoint(oauth, context)
    tokenEndpoint(oauth, issueToken, publicUrl, alterationOf)
    oauth.register(async (standard) => {
      // RFC 7662 and RFC 7009 define only one error format.
      handleErrors(standard, { format: 'standard', activity, logFailure })
      introspectionEndpoint(standard, context)
      revocationEndpoint(standard, context)
    })
  })
}

/** Browsers then use https for this host alone, also for a link that somebody typed or changed (RFC 6797). */
function requireHttps(server: FastifyInstance): void {
  server.addHook('onRequest', (_request, reply, done) => {
    void reply.header('strict-transport-security', 'max-age=31536000')
    done()
  })
}

/** By the clock that a test has moved: clients compare it with theirs. A scripted response may have its own. */
function sendDate(server: FastifyInstance, clock: Clock): void {
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (!reply.hasHeader('date')) void reply.header('date', new Date(clock.now()).toUTCString())
    done()
  })
}

/** So that clients neither send another request on a connection that is about to be closed, nor keep it open. */
function closeConnectionsWhileStopping(server: FastifyInstance, service: OpenService): void {
  server.addHook('preClose', (done) => {
    service.closesConnections = true
    done()
  })
  server.addHook('onSend', (_request, reply, _body, done) => {
    if (service.closesConnections) void reply.header('connection', 'close')
    done()
  })
}
