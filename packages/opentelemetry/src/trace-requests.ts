import { SpanKind, SpanStatusCode, type Attributes, type Tracer } from '@opentelemetry/api'
import type { TokenEvent, TokenProvider } from '@tokenwell/core'
import { failureAttributes } from './failure-attributes.ts'

type TokenRequestEnd = Extract<TokenEvent, { type: 'token_received' | 'token_failed' }>

/** One span for each request to the token endpoint, retries included. */
export function traceRequests(tokens: TokenProvider, tracer: Tracer, identity: Attributes): () => void {
  return tokens.on((event) => {
    const ended =
      event.type === 'token_failed' || (event.type === 'token_received' && event.from === 'endpoint')
    if (ended) traceRequest(tracer, event, identity)
  })
}

/** Created when the request has completed, so that no span stays open. Events have the context of the first caller. */
function traceRequest(tracer: Tracer, event: TokenRequestEnd, identity: Attributes): void {
  const endTime = Date.now()
  const { attempt, durationMs, reason } = event
  const span = tracer.startSpan('token request', {
    kind: SpanKind.CLIENT,
    startTime: endTime - durationMs,
    attributes: {
      ...identity,
      'tokenwell.request.reason': reason,
      ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
    },
  })
  if (event.type === 'token_failed') {
    const { oauthError, vendorCode } = event
    span.setAttributes({
      ...failureAttributes(event),
      ...(oauthError !== undefined && { 'tokenwell.oauth.error': oauthError }),
      ...(vendorCode !== undefined && { 'tokenwell.vendor.code': vendorCode }),
    })
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end(endTime)
}
