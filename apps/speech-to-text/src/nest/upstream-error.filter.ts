import { type ArgumentsHost, Catch, Logger } from '@nestjs/common'
import { BaseExceptionFilter } from '@nestjs/core'
import { isTokenError, type TokenErrorKind } from '@tokenwell/core'
import { isAxiosError } from 'axios'
import type { Response } from 'express'

const tokenProblems: Partial<Record<TokenErrorKind, string>> = {
  credentials: 'The token service rejected the client ID or secret of this server.',
  configuration: 'The token service rejected the configuration of this server.',
  throttled: 'The token service is busy. Try again later.',
}

/**
 * Responds if the speech API returns an error, or there is no token for it.
 *
 * It is not `@Catch(AxiosError)`: an application in CommonJS has another copy of this class than the `HttpService` of
 * `@nestjs/axios` 12, which is an ES module.
 */
@Catch()
export class UpstreamErrorFilter extends BaseExceptionFilter {
  private readonly logger = new Logger(UpstreamErrorFilter.name)

  override catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>()
    const respond = (status: number, code: string, message: string) => {
      if (status >= 500) this.logger.error(message)
      response.status(status).json({ error: { code, message } })
    }
    const cause = isAxiosError(error) ? error.cause : error
    if (isTokenError(cause)) {
      const message = tokenProblems[cause.kind] ?? 'The token service is not available. Try again later.'
      return respond(503, `token_${cause.kind}`, message)
    }
    // oxlint-disable-next-line promise/valid-params -- not a promise
    if (!isAxiosError(error)) return super.catch(error, host)
    const { response: upstream } = error
    if (!upstream) return respond(503, 'unreachable', 'The speech API could not be reached. Try again later.')
    // The caller is not to blame for a rejected token of this server.
    if (upstream.status === 401) return respond(502, 'unauthorized', 'The speech API rejected the token.')
    const { code = 'upstream', message = error.message } = upstream.data?.error ?? {}
    respond(upstream.status, code, message)
  }
}
