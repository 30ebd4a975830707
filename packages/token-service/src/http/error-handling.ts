import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import { setOutcome } from './request-outcome.ts'
import { tokenPath } from '../oauth/endpoint-paths.ts'
import { errorBody } from '../oauth/error-body.ts'
import { type ErrorReason, type Format, ProtocolError } from '../oauth/protocol-error.ts'
import type { ActivityRecorder } from '../storage/activity-recorder.ts'
import { Overloaded, StorageFailure } from '../storage/storage-failure.ts'

const reasonsByCode: Record<string, ErrorReason> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_content_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
}

const audited: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  'invalid_client',
  'expired_secret',
  'invalid_assertion',
  'client_not_identified',
  'invalid_dpop_proof',
  'invalid_grant',
  'identity_not_mapped',
  'application_not_approved',
  'token_of_another_client',
  'too_many_failures',
  'credentials_in_query',
])

export interface ErrorHandlingContext {
  readonly format: Format
  readonly activity?: ActivityRecorder | undefined
  /** @default logs the error with its request */
  readonly logFailure?: ((error: unknown) => void) | undefined
}

/** Sends errors in the given format, without internal details. */
export function handleErrors(server: FastifyInstance, context: ErrorHandlingContext): void {
  const record = createErrorRecorder(context)
  server.setErrorHandler((error, { routeOptions, ip, log }, reply) => {
    const protocolError = record(error, { path: routeOptions.url, ip, log })
    const { reason, details } = protocolError
    setOutcome(reply.request, { reason, clientId: details.clientId })
    return sendError(reply, protocolError, context.format)
  })
}

/** Writes errors to the log and the audit log; returns what is reported to the client. */
export function createErrorRecorder({ activity, logFailure }: ErrorHandlingContext) {
  return (
    error: unknown,
    { path, ip, log }: { path: string | undefined; ip: string; log: Pick<FastifyBaseLogger, 'error'> },
  ): ProtocolError => {
    const protocolError = protocolErrorOf(error)
    const { reason, details } = protocolError
    const { clientId } = details
    if (reason === 'unavailable' && logFailure) logFailure(error)
    else if (reason === 'internal' || reason === 'unavailable') log.error(error)
    if (clientId !== undefined && path === tokenPath) {
      activity?.tokenRequested({ clientId, outcome: reason, address: ip })
    }
    if (audited.has(reason)) {
      activity?.count({ event: 'request_rejected', detail: reason, clientId, address: ip })
    }
    return protocolError
  }
}

function protocolErrorOf(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (error instanceof Overloaded) {
    return new ProtocolError('overloaded', { retryAfterSeconds: error.retryAfterSeconds })
  }
  if (error instanceof StorageFailure) return new ProtocolError('unavailable', { retryAfterSeconds: 1 })
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>
  return new ProtocolError(reasonsByCode[code] ?? (statusCode < 500 ? 'malformed_request' : 'internal'))
}

export function sendError(reply: FastifyReply, error: ProtocolError, format: Format): FastifyReply {
  const { status, headers, body } = errorResponse(error, format)
  return reply.code(status).headers(headers).send(body)
}

function errorResponse(error: ProtocolError, format: Format) {
  const { status, body } = errorBody(error, format)
  const { retryAfterSeconds, allow, acceptEncoding } = error.details
  const headers = {
    ...(status === 401 && { 'www-authenticate': 'Basic realm="tokenwell"' }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    ...(allow !== undefined && { allow }),
    ...(acceptEncoding !== undefined && { 'accept-encoding': acceptEncoding }),
  }
  return { status, headers, body }
}

const intervalMs = 60_000

/**
 * Logs errors. While the storage fails, every request fails with it; these failures share one line per minute, which
 * counts them.
 */
export function createFailureLog(
  log: Pick<FastifyBaseLogger, 'error'>,
  now = () => performance.now(),
): (error: unknown) => void {
  let failures = 0
  let nextLineMs = -Infinity
  return (error) => {
    if (!(error instanceof StorageFailure)) return log.error(error)
    failures += 1
    if (now() < nextLineMs) return
    log.error({ failures }, error.message)
    failures = 0
    nextLineMs = now() + intervalMs
  }
}
