import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import type { ActivityRecorder } from '../activity/activity-recorder.ts'
import { errorBody, type ErrorShape } from './error-body.ts'
import { ProtocolError, type RefusalReason } from './protocol-error.ts'
import { StorageFailure } from '../storage/storage-failure.ts'
import { noteOutcome } from './request-outcome.ts'

const reasonsByCode: Record<string, RefusalReason> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_content_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
}

const audited: ReadonlySet<RefusalReason> = new Set<RefusalReason>([
  'invalid_client',
  'expired_secret',
  'application_not_approved',
  'token_of_another_client',
  'too_many_failures',
  'credentials_in_query',
])

export interface ErrorHandlingContext {
  readonly shape: ErrorShape
  readonly activity?: ActivityRecorder | undefined
}

/** Answers every refusal in the given shape, and never with more than the reason for it. */
export function handleErrors(server: FastifyInstance, { shape, activity }: ErrorHandlingContext): void {
  server.setErrorHandler<FastifyError | ProtocolError | StorageFailure>((error, request, reply) => {
    const refusal = refusalOf(error)
    const { reason, details } = refusal
    if (reason === 'internal' || reason === 'unavailable') request.log.error(error)
    noteOutcome(request, { reason, clientId: details.clientId })
    if (audited.has(reason)) {
      activity?.audit({ event: 'refused', detail: reason, clientId: details.clientId, address: request.ip })
    }
    return sendRefusal(reply, refusal, shape)
  })
}

function refusalOf(error: FastifyError | ProtocolError | StorageFailure): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (error instanceof StorageFailure) return new ProtocolError('unavailable', { retryAfterSeconds: 1 })
  const reason = reasonsByCode[error.code]
  if (reason) return new ProtocolError(reason)
  const isClients = error.statusCode !== undefined && error.statusCode < 500
  return new ProtocolError(isClients ? 'malformed_request' : 'internal')
}

export function sendRefusal(reply: FastifyReply, refusal: ProtocolError, shape: ErrorShape): FastifyReply {
  const { status, body } = errorBody(refusal, shape)
  const { retryAfterSeconds, allow } = refusal.details
  if (status === 401) void reply.header('www-authenticate', 'Basic realm="tokenwell"')
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds))
  if (allow !== undefined) void reply.header('allow', allow)
  return reply.code(status).send(body)
}
