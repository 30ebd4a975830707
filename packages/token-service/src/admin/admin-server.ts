import { createHash, timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { baseUrl } from '../oauth/base-url.ts'
import { metricsEndpoint, type Metrics } from '../http/metrics.ts'
import { openapiEndpoint } from '../http/metadata-endpoints.ts'
import { maxParameterLength } from '../runtime/bounds.ts'
import { NotFoundError, UsageError } from '../runtime/usage-error.ts'
import { ApplicationChanged } from '../features/applications/acts.ts'
import { AlreadyExists, BeingDeleted } from '../features/credentials/acts.ts'
import { HashKeyInUse } from '../features/hash-keys/acts.ts'
import { ChangedMeanwhile, RevisionRequired } from '../storage/revision.ts'
import { LastAdministrator } from '../features/people/acts.ts'
import type { ServiceContext } from '../features/context.ts'
import { RotatedTooEarly } from '../oauth/signing-keys.ts'
import { Overloaded, StorageFailure } from '../storage/storage-failure.ts'
import {
  addRoute,
  type AdminContext,
  type DeveloperLinks,
  type OperationGroup,
} from '../features/operation.ts'

const conflicts = [
  AlreadyExists,
  ApplicationChanged,
  BeingDeleted,
  LastAdministrator,
  RotatedTooEarly,
  HashKeyInUse,
]

/** A server whose requests need the administrator's token. */
export function createAdminServer(
  token: string,
  { context, metrics }: { readonly context: ServiceContext; readonly metrics: Metrics | undefined },
  links: DeveloperLinks,
  groups: readonly OperationGroup[],
): FastifyInstance {
  const expected = digestOf(`Bearer ${token}`)
  const server = Fastify({
    bodyLimit: 64 * 1024,
    requestTimeout: 10_000,
    routerOptions: { maxParamLength: maxParameterLength },
    frameworkErrors: ({ statusCode = 400, message }, _request, reply: FastifyReply) => {
      void reply.code(statusCode).send({ error: message })
    },
  })
  server.addHook('onRequest', async (request, reply) => {
    void reply.header('cache-control', 'no-store')
    if (timingSafeEqual(digestOf(request.headers.authorization ?? ''), expected)) return
    context.activity.count({ event: 'administrator_rejected', address: request.ip })
    await reply.code(401).header('www-authenticate', 'Bearer').send({
      error:
        'The administrator token is missing or invalid. Send it in the header "Authorization: Bearer <token>".',
    })
  })
  server.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const status = statusOf(error)
    if (error instanceof Overloaded) void reply.header('retry-after', String(error.retryAfterSeconds))
    else if (status >= 500) context.logFailure(error)
    const message = status === 500 ? 'Internal error.' : error.message || error.name
    return reply.code(status).send({ error: message })
  })
  server.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'This address does not exist.' }),
  )
  if (metrics) metricsEndpoint(server, metrics)
  openapiEndpoint(
    server,
    (request) => baseUrl(request, undefined),
    async (url) => {
      const { adminDescription } = await import('./admin-description.ts')
      return adminDescription(url, groups)
    },
  )
  const service: AdminContext = { ...context, links }
  for (const { operations } of groups)
    for (const operation of operations) addRoute(server, service, operation)
  return server
}

function statusOf(error: Error & { statusCode?: number }): number {
  if (error instanceof NotFoundError) return 404
  if (conflicts.some((conflict) => error instanceof conflict)) return 409
  if (error instanceof ChangedMeanwhile) return 412
  if (error instanceof RevisionRequired) return 428
  if (error instanceof UsageError) return 400
  if (error instanceof StorageFailure || error instanceof Overloaded) return 503
  return error.statusCode ?? 500
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
