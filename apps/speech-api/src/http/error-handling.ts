import type { FastifyError, FastifyInstance } from 'fastify'
import { AudioError, type AudioErrorCode } from '../audio-error.ts'
import { EngineBusyError } from '../speech-engine.ts'
import { ApiError } from './api-error.ts'

const STATUSES: Readonly<Record<AudioErrorCode, number>> = {
  empty_file: 400,
  not_a_wav: 415,
  broken_wav: 422,
  unsupported_wav: 415,
  no_samples: 422,
}

/** Answers every error as `{ "error": { code, message } }`, and logs only those that are the server's own. */
export function handleErrors(server: FastifyInstance): void {
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const answer = asApiError(error)
    if (answer.statusCode === 500) request.log.error({ err: error }, 'request failed')
    return reply.code(answer.statusCode).headers(answer.headers).send(answer.body)
  })
  server.setNotFoundHandler((request) => {
    const [path] = request.url.split('?')
    throw new ApiError(404, 'not_found', `There is no ${request.method} ${path} here.`)
  })
}

function asApiError(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof AudioError) return new ApiError(STATUSES[error.code], error.code, error.message)
  if (error instanceof EngineBusyError) {
    const headers = { 'retry-after': '1' }
    return new ApiError(503, 'busy', 'Too many recordings are being transcribed; try again soon.', {
      headers,
    })
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    const message = 'Send the recording as audio/wav, or as the field "file" of multipart/form-data.'
    return new ApiError(415, 'unsupported_media_type', message)
  }
  const { statusCode = 500 } = error
  if (statusCode < 500) return new ApiError(statusCode, 'bad_request', 'The request is malformed.')
  return new ApiError(500, 'internal_error', 'The recording could not be transcribed; this is not its fault.')
}
