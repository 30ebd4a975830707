import { Catch, HttpException, HttpStatus, Logger, type ArgumentsHost, type Type } from '@nestjs/common'
import { BaseExceptionFilter } from '@nestjs/core'
import { isTokenError, type TokenError } from '@tokenwell/core'

/** Matches a `TokenError`, and an error of an HTTP client that was caused by one. */
const TokenFailure = {
  [Symbol.hasInstance]: (error: unknown) => tokenErrorOf(error) !== undefined,
} as unknown as Type<Error>

/**
 * Responds to requests that failed because no token was available: 503 if a later attempt may succeed,
 * with `Retry-After` if the delay is known; otherwise 502. The response contains no details; the message is logged.
 *
 * @example
 * @Module({ providers: [{ provide: APP_FILTER, useClass: TokenErrorFilter }] })
 */
@Catch(TokenFailure)
export class TokenErrorFilter extends BaseExceptionFilter {
  readonly #logger = new Logger(TokenErrorFilter.name)

  override catch(exception: Error, host: ArgumentsHost): void {
    // Other transports have their own error format.
    if (host.getType() !== 'http') throw exception
    const error = tokenErrorOf(exception)!
    this.#logger.error(error.message)
    const isTemporary = ['throttled', 'unavailable', 'aborted'].includes(error.kind)
    const adapter = this.applicationRef ?? this.httpAdapterHost!.httpAdapter
    if (isTemporary && error.retryAfterMs !== undefined) {
      const seconds = Math.max(1, Math.ceil(error.retryAfterMs / 1000))
      adapter.setHeader(host.switchToHttp().getResponse(), 'Retry-After', String(seconds))
    }
    const status = isTemporary ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.BAD_GATEWAY
    const message = isTemporary ? 'Service Unavailable' : 'Bad Gateway'
    // oxlint-disable-next-line promise/valid-params -- not a promise
    super.catch(new HttpException({ statusCode: status, message }, status), host)
  }
}

function tokenErrorOf(error: unknown): TokenError | undefined {
  const { cause } = Object(error) as Error
  return [error, cause].find(isTokenError)
}
