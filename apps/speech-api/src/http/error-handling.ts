import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { AudioError, type AudioErrorCode } from '../audio-error.ts'
import { ClientShareError } from '../jobs/client-share-error.ts'
import { EngineBusyError, EngineError, type EngineErrorCode } from '../speech-engine.ts'
import { ApiError } from './api-error.ts'

const STATUSES: Readonly<Record<AudioErrorCode | EngineErrorCode, number>> = {
  empty_file: 400,
  not_a_wav: 415,
  broken_wav: 422,
  unsupported_wav: 415,
  no_samples: 422,
  engine_failed: 502,
  engine_timeout: 504,
  engine_closed: 503,
}

/** Answers every error as `{ "error": { code, message } }`, and logs only those that are the server's own. */
export function handleErrors(server: FastifyInstance): void {
  server.setErrorHandler((error, request, reply) => {
    const answer = asApiError(error)
    logOwnError(request.log, error)
    return reply.code(answer.statusCode).headers(answer.headers).send(answer.body)
  })
  server.setNotFoundHandler((request) => {
    const [path] = request.url.split('?')
    throw new ApiError(404, 'not_found', `There is no ${request.method} ${path} here.`)
  })
}

/** Logs an error that neither the client nor its recording is to blame for. */
export function logOwnError(log: FastifyBaseLogger, error: unknown): void {
  if (asApiError(error).statusCode === 500 || error instanceof EngineError) {
    log.error({ err: error }, 'transcription failed')
  }
}

/** What a client is told of an error, whatever it was. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof AudioError || error instanceof EngineError) {
    return new ApiError(STATUSES[error.code], error.code, error.message)
  }
  if (error instanceof EngineBusyError) {
    const headers = { 'retry-after': String(error.retryAfterSeconds) }
    return new ApiError(503, 'busy', 'Too many recordings are being transcribed; try again soon.', {
      headers,
    })
  }
  if (error instanceof ClientShareError) {
    const headers = { 'retry-after': String(error.retryAfterSeconds) }
    return new ApiError(429, 'too_many_jobs', error.message, { headers })
  }
  const { code, statusCode = 500 } = Object(error) as { code?: unknown; statusCode?: number }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    const message = 'Send the recording as audio/wav, or as the field "file" of multipart/form-data.'
    return new ApiError(415, 'unsupported_media_type', message)
  }
  if (statusCode < 500) return new ApiError(statusCode, 'bad_request', 'The request is malformed.')
  return new ApiError(500, 'internal_error', 'The recording could not be transcribed; this is not its fault.')
}
