import {
  Catch,
  HttpException,
  Inject,
  Logger,
  PayloadTooLargeException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common'
import { TokenError } from '@tokenwell/core'
import { isAxiosError } from 'axios'
import type { Response } from 'express'
import { SpeechApiError } from '../speech-api-error.ts'
import { SERVER_SETTINGS, type ServerSettings } from './server-settings.ts'

interface Answer {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly retryAfterMs?: number | undefined
}

/** Every error of the server in the shape of the speech API's own: a code, and one sentence for people. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly #logger = new Logger(ErrorFilter.name)
  readonly #speechUrl: string

  constructor(@Inject(SERVER_SETTINGS) settings: ServerSettings) {
    this.#speechUrl = settings.speechUrl
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>()
    // Axios wraps what its adapter throws.
    const cause = isAxiosError(error) && error.cause instanceof TokenError ? error.cause : error
    const { status, code, message, retryAfterMs } = this.#answerTo(cause)
    if (response.headersSent) return void response.end()
    if (retryAfterMs) response.setHeader('retry-after', Math.ceil(retryAfterMs / 1000))
    response.status(status).json({ error: { code, message } })
  }

  #answerTo(error: unknown): Answer {
    if (error instanceof SpeechApiError) {
      // The page must not take a refusal of the server's token for the end of its session.
      return error.status === 401 ? { ...pick(error), status: 502 } : pick(error)
    }
    if (error instanceof TokenError) {
      const { kind, retryAfterMs } = error
      this.#logger.error(error.message)
      return {
        status: kind === 'unavailable' || kind === 'throttled' ? 503 : 502,
        code: `token_${kind}`,
        message: 'The server could not get an access token. Your recording is kept: try again later.',
        retryAfterMs,
      }
    }
    if (error instanceof PayloadTooLargeException) {
      const message = 'The recording is too large: the speech API takes 25 MB at most.'
      return { status: 413, code: 'too_large', message }
    }
    if (error instanceof HttpException) {
      const body = Object(error.getResponse()) as { error?: Partial<Answer> }
      return {
        status: error.getStatus(),
        code: body.error?.code ?? 'bad_request',
        message: body.error?.message ?? `${error.message}.`,
      }
    }
    if (isAxiosError(error)) {
      return {
        status: 503,
        code: 'speech_api_unreachable',
        message: `The server could not reach the speech API at ${this.#speechUrl}. Your recording is kept: try again later.`,
      }
    }
    this.#logger.error(error)
    return { status: 500, code: 'internal_error', message: 'Something went wrong on the server.' }
  }
}

function pick({ status, code, message, retryAfterMs }: SpeechApiError): Answer {
  return { status, code, message, retryAfterMs }
}
