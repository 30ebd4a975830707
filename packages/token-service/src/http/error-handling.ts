import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import type { ActivityRecorder } from '../activity/activity-recorder.ts'
import { tokenPath } from '../protocol/endpoint-paths.ts'
import { errorBody, type ErrorShape } from '../protocol/error-body.ts'
import { ProtocolError, type ErrorReason } from '../protocol/protocol-error.ts'
import { StorageFailure } from '../storage/storage-failure.ts'
import { setOutcome } from './request-outcome.ts'

const reasonsByCode: Record<string, ErrorReason> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_content_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
}

const audited: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  'invalid_client',
  'expired_secret',
  'invalid_assertion',
  'application_not_approved',
  'token_of_another_client',
  'too_many_failures',
  'credentials_in_query',
])

export interface ErrorHandlingContext {
  readonly shape: ErrorShape
  readonly activity?: ActivityRecorder | undefined
  /** @default logs the error with its request */
  readonly logFailure?: ((error: unknown) => void) | undefined
}

/** Sends errors in the given shape, without internal details. */
export function handleErrors(
  server: FastifyInstance,
  { shape, activity, logFailure }: ErrorHandlingContext,
): void {
  server.setErrorHandler<FastifyError | ProtocolError | StorageFailure>((error, request, reply) => {
    const protocolError = protocolErrorOf(error)
    const { reason, details } = protocolError
    if (reason === 'unavailable' && logFailure) logFailure(error)
    else if (reason === 'internal' || reason === 'unavailable') request.log.error(error)
    setOutcome(request, { reason, clientId: details.clientId })
    if (details.clientId !== undefined && request.routeOptions.url === tokenPath) {
      activity?.tokenRequested({ clientId: details.clientId, outcome: reason, address: request.ip })
    }
    if (audited.has(reason)) {
      activity?.audit({
        event: 'request_rejected',
        detail: reason,
        clientId: details.clientId,
        address: request.ip,
      })
    }
    return sendError(reply, protocolError, shape)
  })
}

function protocolErrorOf(error: FastifyError | ProtocolError | StorageFailure): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (error instanceof StorageFailure) return new ProtocolError('unavailable', { retryAfterSeconds: 1 })
  const reason = reasonsByCode[error.code]
  if (reason) return new ProtocolError(reason)
  const isClientError = error.statusCode !== undefined && error.statusCode < 500
  return new ProtocolError(isClientError ? 'malformed_request' : 'internal')
}

export function sendError(reply: FastifyReply, error: ProtocolError, shape: ErrorShape): FastifyReply {
  const { status, body } = errorBody(error, shape)
  const { retryAfterSeconds, allow } = error.details
  if (status === 401) void reply.header('www-authenticate', 'Basic realm="tokenwell"')
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds))
  if (allow !== undefined) void reply.header('allow', allow)
  return reply.code(status).send(body)
}
