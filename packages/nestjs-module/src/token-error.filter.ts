import { Catch, HttpException, HttpStatus, Logger, type ArgumentsHost, type Type } from '@nestjs/common'
import { BaseExceptionFilter } from '@nestjs/core'
import { isTokenError, type TokenError } from '@tokenwell/core'
import { throwError, type Observable } from 'rxjs'

/** Matches a `TokenError`, and an error of an HTTP client that was caused by one. */
const TokenFailure = {
  [Symbol.hasInstance]: (error: unknown) => tokenErrorOf(error) !== undefined,
} as unknown as Type<Error>

/**
 * Responds to requests that failed because no token was available: 503 if a later attempt may succeed,
 * with `Retry-After` if the delay is known; otherwise 502. Callers of microservices, gateways and GraphQL receive the
 * same texts in the error format of their transport. The response contains no details; the message is logged.
 *
 * @example
 * @Module({ providers: [{ provide: APP_FILTER, useClass: TokenErrorFilter }] })
 */
@Catch(TokenFailure)
export class TokenErrorFilter extends BaseExceptionFilter {
  readonly #logger = new Logger(TokenErrorFilter.name)

  override catch(exception: Error, host: ArgumentsHost): void | Observable<never> {
    const error = tokenErrorOf(exception)!
    this.#logger.error(error.message)
    const isTemporary = ['throttled', 'unavailable', 'aborted'].includes(error.kind)
    const status = isTemporary ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.BAD_GATEWAY
    const message = isTemporary ? 'Service Unavailable' : 'Bad Gateway'
    const type = host.getType<string>()
    // Nest expects an Observable here: it waits for ever for a filter that throws.
    if (type === 'rpc') return throwError(() => rpcError(message, isTemporary, host))
    if (type === 'ws') return emitException({ status: 'error', message }, host)
    const response = new HttpException({ statusCode: status, message }, status)
    // GraphQL turns it into an error of the operation.
    if (type !== 'http') throw response
    if (isTemporary && error.retryAfterMs !== undefined) {
      const adapter = this.applicationRef ?? this.httpAdapterHost!.httpAdapter
      const seconds = Math.max(1, Math.ceil(error.retryAfterMs / 1000))
      adapter.setHeader(host.switchToHttp().getResponse(), 'Retry-After', String(seconds))
    }
    // oxlint-disable-next-line promise/valid-params -- not a promise
    super.catch(response, host)
  }
}

/** The format of Nest's own filters; gRPC's clients retry only what has the code UNAVAILABLE. */
function rpcError(message: string, isTemporary: boolean, host: ArgumentsHost): object {
  const isGrpc = 'sendMetadata' in Object(host.getArgByIndex(2))
  return { status: 'error', message, ...(isGrpc && { code: isTemporary ? 14 : 13 }) }
}

/** Sends the event `exception`, as Nest's own filter does for its gateways. */
function emitException(data: object, host: ArgumentsHost): void {
  const client = host.switchToWs().getClient<WebSocketClient>()
  // A native WebSocket emits its events locally only.
  if (client.readyState !== undefined) client.send(JSON.stringify({ event: 'exception', data }))
  else client.emit('exception', data)
}

interface WebSocketClient {
  readonly readyState?: number
  send(data: string): void
  emit(event: string, data: object): void
}

function tokenErrorOf(error: unknown): TokenError | undefined {
  const { cause } = Object(error) as Error
  return [error, cause].find(isTokenError)
}
