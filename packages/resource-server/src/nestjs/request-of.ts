import { type ExecutionContext, createParamDecorator } from '@nestjs/common'
import type { NodeRequest } from '../node/node-request.ts'
import type { VerifiedToken } from '../requirements/verified-token.ts'

export interface IncomingRequest extends NodeRequest {
  accessToken?: VerifiedToken
  /** Fastify keeps Node's request here. */
  readonly raw?: NodeRequest
  /** Express keeps the response here, which a GraphQL context may lack. */
  readonly res?: unknown
}

export interface IncomingExchange {
  readonly request: IncomingRequest
  readonly response: unknown
}

/** @throws {Error} for contexts without an HTTP request */
export function exchangeOf(context: ExecutionContext): IncomingExchange {
  const type = context.getType<string>()
  if (type === 'http') {
    const http = context.switchToHttp()
    return { request: http.getRequest<IncomingRequest>(), response: http.getResponse<unknown>() }
  }
  if (type !== 'graphql') {
    throw new Error(
      `TokenGuard cannot check "${type}" messages: they carry no HTTP request. Apply it to HTTP handlers only, or mark this one @Public().`,
    )
  }
  const { req, res } = Object(context.getArgByIndex<unknown>(2)) as { req?: IncomingRequest; res?: unknown }
  if (req?.headers === undefined) {
    throw new Error('TokenGuard requires the HTTP request in the GraphQL context. Add it as `req`.')
  }
  return { request: req, response: res ?? req.res }
}

/** Injects the request's `VerifiedToken`; undefined in a `@Public()` handler. */
export const VerifiedAccessToken: () => ParameterDecorator = createParamDecorator(
  (_data: undefined, context): VerifiedToken | undefined => exchangeOf(context).request.accessToken,
)
