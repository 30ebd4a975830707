import type { FastifyInstance } from 'fastify'
import { ApiError } from '../api-error.ts'

/** Responds to every error with `{ "error": { code, message } }` and logs those that the server causes itself. */
export function handleErrors(server: FastifyInstance): void {
  server.setErrorHandler((error, request, reply) => {
    const { status, code, message, retryAfterSeconds } = toApiError(error)
    if (status >= 500) request.log.error({ err: error }, 'transcription failed')
    if (retryAfterSeconds) reply.header('retry-after', retryAfterSeconds)
    return reply.code(status).send({ error: { code, message } })
  })
  server.setNotFoundHandler((request) => {
    const [path] = request.url.split('?')
    throw new ApiError(404, 'not_found', `${request.method} ${path} does not exist.`)
  })
}

/** Converts any error to what the client may see. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const { code, statusCode = 500 } = Object(error) as { code?: unknown; statusCode?: number }
  if (code === 'FST_REQ_FILE_TOO_LARGE')
    return new ApiError(413, 'too_large', 'The recording is larger than 25 MiB.')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedMediaType()
  if (code === 'FST_FILES_LIMIT')
    return new ApiError(400, 'invalid_field', 'Send one file, in the field "file".')
  if (statusCode < 500) return new ApiError(statusCode, 'bad_request', 'The request is malformed.')
  return new ApiError(500, 'internal_error', 'The server failed to transcribe the recording.')
}

export function unsupportedMediaType(): ApiError {
  const message =
    'The content type is not supported. Send the recording as the field "file" of a form (multipart/form-data).'
  return new ApiError(415, 'unsupported_media_type', message)
}
