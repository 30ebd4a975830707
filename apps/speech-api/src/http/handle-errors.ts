import type { ServerResponse } from 'node:http'
import cors from '@fastify/cors'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify'
import {
  EngineBusyError,
  EngineError,
  ExpectedSpeechError,
  type EngineErrorCode,
  type ExpectedSpeechErrorCode,
} from '../engines/speech-engine.ts'
import { ShareExceededError } from '../jobs/run-job.ts'
import { AudioError, type AudioErrorCode } from '../wav/wav-format.ts'

export interface ApiErrorOptions {
  /** Replaces `{ "error": { code, message } }`. */
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** An error response: a status, a stable code and one sentence for the client. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly statusCode: number
  readonly code: string
  readonly body: object
  readonly headers: Readonly<Record<string, string>>

  constructor(statusCode: number, code: string, message: string, options: ApiErrorOptions = {}) {
    super(message)
    this.statusCode = statusCode
    this.code = code
    this.body = options.body ?? { error: { code, message } }
    this.headers = options.headers ?? {}
  }
}

const STATUSES: Readonly<Record<AudioErrorCode | ExpectedSpeechErrorCode | EngineErrorCode, number>> = {
  empty_file: 400,
  not_a_wav: 415,
  malformed_wav: 422,
  unsupported_wav: 415,
  no_samples: 422,
  invalid_samples: 422,
  unknown_words: 422,
  grammar_not_supported: 422,
  engine_failed: 502,
  engine_timeout: 504,
  engine_closed: 503,
}

/** Responds to every error with `{ "error": { code, message } }` and logs those that the server causes itself. */
export function handleErrors(server: FastifyInstance): void {
  server.setErrorHandler((error, request, reply) => {
    const { statusCode, headers, body } = toApiError(error)
    logServerError(request.log, error)
    return reply.code(statusCode).headers(headers).send(body)
  })
  server.setNotFoundHandler((request) => {
    const [path] = request.url.split('?')
    throw new ApiError(404, 'not_found', `${request.method} ${path} does not exist.`)
  })
}

/** Logs an error that neither the client nor its recording has caused. */
export function logServerError(log: FastifyBaseLogger, error: unknown): void {
  if (toApiError(error).statusCode === 500 || error instanceof EngineError) {
    log.error({ err: error }, 'transcription failed')
  }
}

/** Converts any error to what the client may see. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof AudioError || error instanceof ExpectedSpeechError || error instanceof EngineError) {
    return new ApiError(STATUSES[error.code], error.code, error.message)
  }
  if (error instanceof EngineBusyError) {
    const headers = { 'retry-after': String(error.retryAfterSeconds) }
    return new ApiError(503, 'busy', 'The speech API is busy. Try again soon.', { headers })
  }
  if (error instanceof ShareExceededError) {
    const message = `${error.message} Try again when one has finished.`
    return new ApiError(429, 'too_many_recordings', message, { headers: { 'retry-after': '2' } })
  }
  const { code, statusCode = 500 } = Object(error) as { code?: unknown; statusCode?: number }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    const message =
      'The content type is not supported. Send the recording as audio/wav, or as the field "file" of multipart/form-data.'
    return new ApiError(415, 'unsupported_media_type', message)
  }
  if (statusCode < 500) return new ApiError(statusCode, 'bad_request', 'The request is malformed.')
  return new ApiError(500, 'internal_error', 'The server failed to transcribe the recording.')
}

/** Returns a signal that aborts when the client disconnects before it has received the response. */
export function abortOnDisconnect(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return
    controller.abort(new ApiError(499, 'client_disconnected', 'The client closed the connection.'))
  })
  return controller.signal
}

/** Makes a closing server wait for pending responses: without this, it closes a connection as soon as it is idle. */
export function finishResponses(server: FastifyInstance): void {
  const pending = new Set<ServerResponse>()
  let onIdle = () => {}
  server.addHook('onRequest', async (_request, { raw }) => {
    pending.add(raw)
    raw.once('close', () => {
      pending.delete(raw)
      if (pending.size === 0) onIdle()
    })
  })
  server.addHook('preClose', async () => {
    if (pending.size > 0) await new Promise<void>((resolve) => (onIdle = resolve))
  })
}

/**
 * Allows pages of these origins to call the API (CORS) and to read the headers of its responses.
 *
 * @throws {TypeError} if one of them is not an origin
 */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin) {
      throw new TypeError(
        `"${origin}" is not a valid origin. Set only scheme, host and port, such as https://app.example.com.`,
      )
    }
  }
  server.register(cors, {
    origin: [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Prefer'],
    exposedHeaders: ['WWW-Authenticate', 'Retry-After', 'Location'],
    maxAge: 600,
  })
}
