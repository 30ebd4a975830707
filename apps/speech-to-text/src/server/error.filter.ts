import {
  Catch,
  HttpException,
  Inject,
  Logger,
  PayloadTooLargeException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common'
import { TokenError, type TokenErrorKind } from '@tokenwell/core'
import { isAxiosError } from 'axios'
import type { Response } from 'express'
import { SpeechApiError } from '../speech/speech-api-response.ts'
import { SERVER_SETTINGS, type ServerSettings } from './page-settings.controller.ts'

interface ErrorResponse {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly retryAfterMs?: number | undefined
}

const tokenProblems: Partial<Record<TokenErrorKind, string>> = {
  credentials: 'The token service rejected the client ID or secret of this server.',
  configuration: 'The token service rejected the configuration of this server.',
  throttled: 'The token service is busy. Try again later.',
  unavailable: 'The token service is down. Try again later.',
}

/** Responds to every error in the format of the speech API: a code and one sentence for the user. */
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
    const { status, code, message, retryAfterMs } = this.#toResponse(cause)
    if (response.headersSent) return void response.end()
    if (retryAfterMs) response.setHeader('retry-after', Math.ceil(retryAfterMs / 1000))
    response.status(status).json({ error: { code, message } })
  }

  #toResponse(error: unknown): ErrorResponse {
    if (error instanceof SpeechApiError) {
      // A rejected token of the server must not look like an expired session to the page.
      return error.status === 401 ? { ...pick(error), status: 502 } : pick(error)
    }
    if (error instanceof TokenError) {
      const { kind, retryAfterMs } = error
      this.#logger.error(error.message)
      return {
        status: kind === 'unavailable' || kind === 'throttled' ? 503 : 502,
        code: `token_${kind}`,
        message: `${tokenProblems[kind] ?? 'The server could not get an access token.'} The recording was kept.`,
        retryAfterMs,
      }
    }
    if (error instanceof PayloadTooLargeException) {
      const message = 'The recording is too large. The speech API accepts up to 25 MiB.'
      return { status: 413, code: 'too_large', message }
    }
    if (error instanceof HttpException) {
      const body = Object(error.getResponse()) as { error?: Partial<ErrorResponse> }
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
        message: `The server could not reach the speech API at ${this.#speechUrl}. The recording was kept. Try again later.`,
      }
    }
    this.#logger.error(error)
    return { status: 500, code: 'internal_error', message: 'The server failed to handle the request.' }
  }
}

function pick({ status, code, message, retryAfterMs }: SpeechApiError): ErrorResponse {
  return { status, code, message, retryAfterMs }
}
