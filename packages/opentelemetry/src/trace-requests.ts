import { SpanKind, SpanStatusCode, trace, type SpanContext, type Tracer } from '@opentelemetry/api'
import type { TokenEvent, TokenPool, TokenProvider } from '@tokenwell/core'
import { failureAttributes, type IdentityOf } from './attributes.ts'
import { knownOAuthError, knownVendorCode } from './known-codes.ts'

type TokenRequestEnd = Extract<TokenEvent, { type: 'token_received' | 'token_failed' }>

interface TracedRequest {
  readonly context: SpanContext
  /** Span of the caller that started the request. */
  readonly parentId: string | undefined
}

/** Callers return right after their request; older ones are no longer linked. */
const maxTracedRequests = 100

/** One span for each request to the token endpoint, retries included, to which waiting callers are linked. */
export function traceRequests(
  tokens: TokenProvider | Pick<TokenPool<never>, 'subscribe'>,
  tracer: Tracer,
  identityOf: IdentityOf,
): () => void {
  const traced = new Map<string, TracedRequest>()
  return tokens.subscribe((event) => {
    const ended =
      event.type === 'token_failed' || (event.type === 'token_received' && event.from === 'endpoint')
    if (ended) {
      traced.set(`${event.requestId} ${event.key}`, traceRequest(tracer, event, identityOf))
      if (traced.size > maxTracedRequests) traced.delete(traced.keys().next().value!)
    } else if (event.type === 'call_settled') linkCaller(traced.get(`${event.requestId} ${event.key}`))
  })
}

/**
 * Events run in their caller's context: here that of each caller that waited, below that of the one that started it.
 */
function linkCaller(request: TracedRequest | undefined): void {
  const caller = trace.getActiveSpan()
  if (request && caller?.spanContext().spanId !== request.parentId)
    caller?.addLink({ context: request.context })
}

/** Created when the request has completed, so that no span stays open. */
function traceRequest(tracer: Tracer, event: TokenRequestEnd, identityOf: IdentityOf): TracedRequest {
  const endTime = Date.now()
  const { attempt, durationMs, reason } = event
  // No caller waits for a refresh in the background.
  const root = reason === 'refresh_ahead'
  const span = tracer.startSpan('token request', {
    kind: SpanKind.CLIENT,
    root,
    startTime: endTime - durationMs,
    attributes: {
      ...identityOf(event),
      'tokenwell.request.reason': reason,
      ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
    },
  })
  if (event.type === 'token_failed') {
    const { oauthError, vendorCode } = event
    span.setAttributes({
      ...failureAttributes(event),
      ...(oauthError !== undefined && { 'tokenwell.oauth.error': knownOAuthError(oauthError) }),
      ...(vendorCode !== undefined && { 'tokenwell.vendor.code': knownVendorCode(vendorCode) }),
    })
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end(endTime)
  const parentId = root ? undefined : trace.getActiveSpan()?.spanContext().spanId
  return { context: span.spanContext(), parentId }
}
