import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import { errorBody, type ErrorShape } from './error-body.ts'
import { ProtocolError, type RefusalReason } from './protocol-error.ts'

const reasonsByCode: Record<string, RefusalReason> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_content_type',
  FST_ERR_CTP_EMPTY_TYPE: 'unsupported_content_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
}

/** Answers every refusal in the given shape, and never with more than the reason for it. */
export function handleErrors(server: FastifyInstance, shape: ErrorShape): void {
  server.setErrorHandler<FastifyError | ProtocolError>((error, request, reply) => {
    const refusal = error instanceof ProtocolError ? error : new ProtocolError(reasonOf(error))
    if (refusal.reason === 'internal') request.log.error(error)
    return sendRefusal(reply, refusal, shape)
  })
}

function reasonOf(error: FastifyError): RefusalReason {
  const reason = reasonsByCode[error.code]
  if (reason) return reason
  return error.statusCode !== undefined && error.statusCode < 500 ? 'malformed_request' : 'internal'
}

export function sendRefusal(reply: FastifyReply, refusal: ProtocolError, shape: ErrorShape): FastifyReply {
  const { status, body } = errorBody(refusal, shape)
  const { retryAfterSeconds, allow } = refusal.details
  if (status === 401) void reply.header('www-authenticate', 'Basic realm="tokenwell"')
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds))
  if (allow !== undefined) void reply.header('allow', allow)
  return reply.code(status).send(body)
}
