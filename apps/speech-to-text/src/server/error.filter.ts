import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Inject,
  Logger,
  PayloadTooLargeException,
} from '@nestjs/common'
import { TokenError, type TokenErrorKind } from '@tokenwell/core'
import { AxiosError } from 'axios'
import type { Response } from 'express'
import { SpeechApiError } from '../speech/speech-api-response.ts'
import { speechApi, type SpeechApi } from './settings.ts'

type Handled = TokenError | SpeechApiError | AxiosError | PayloadTooLargeException

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

/**
 * Responds to the errors of the token service and the speech API in the format of the latter: a code and one sentence
 * for the user. All other errors keep Nest's own responses.
 */
@Catch(TokenError, SpeechApiError, AxiosError, PayloadTooLargeException)
export class ErrorFilter implements ExceptionFilter {
  readonly #logger = new Logger(ErrorFilter.name)
  readonly #speechUrl: string

  constructor(@Inject(speechApi.KEY) { baseURL }: SpeechApi) {
    this.#speechUrl = baseURL
  }

  catch(error: Handled, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>()
    // Axios wraps what its adapter throws.
    const cause = error instanceof AxiosError && error.cause instanceof TokenError ? error.cause : error
    const { status, code, message, retryAfterMs } = this.#toResponse(cause)
    if (response.headersSent) return void response.end()
    if (retryAfterMs) response.setHeader('retry-after', Math.ceil(retryAfterMs / 1000))
    response.status(status).json({ error: { code, message } })
  }

  #toResponse(error: Handled): ErrorResponse {
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
    return {
      status: 503,
      code: 'speech_api_unreachable',
      message: `The server could not reach the speech API at ${this.#speechUrl}. The recording was kept. Try again later.`,
    }
  }
}

function pick({ status, code, message, retryAfterMs }: SpeechApiError): ErrorResponse {
  return { status, code, message, retryAfterMs }
}
