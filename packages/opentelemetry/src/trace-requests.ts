import { context, SpanKind, SpanStatusCode, trace, type Span, type Tracer } from '@opentelemetry/api'
import type { TokenEvent, TokenPool, TokenProvider } from '@tokenwell/core'
import { failureAttributes, type IdentityOf } from './attributes.ts'
import { knownOAuthError, knownVendorCode } from './known-codes.ts'

type TokenEventOf<Type extends TokenEvent['type']> = Extract<TokenEvent, { type: Type }>

interface TracedRequest {
  readonly span: Span
  /** Span of the caller that started the request and waits for it. */
  readonly parentId: string | undefined
}

/** Callers return right after their request; older ones are no longer linked. */
const maxTracedRequests = 100

/**
 * One span for each request to the token endpoint, retries included, to which waiting callers are linked. The request is
 * sent in the context of its span, so that the spans of its HTTP client are below it.
 */
export function traceRequests(
  tokens: TokenProvider | Pick<TokenPool<never>, 'subscribe'>,
  tracer: Tracer,
  identityOf: IdentityOf,
): () => void {
  const pending = new Map<string, TracedRequest>()
  const ended = new Map<string, TracedRequest>()
  return tokens.subscribe((event) => {
    if (event.type === 'token_requested') {
      const request = startRequest(tracer, event, identityOf)
      pending.set(idOf(event), request)
      return (send: () => void) => context.with(trace.setSpan(context.active(), request.span), send)
    }
    if (event.type === 'token_failed' || event.type === 'token_received') {
      const id = idOf(event)
      const request = pending.get(id)
      if (!request) return undefined
      pending.delete(id)
      endRequest(request, event)
      ended.set(id, request)
      if (ended.size > maxTracedRequests) ended.delete(ended.keys().next().value!)
    } else if (event.type === 'call_settled') linkCaller(ended.get(idOf(event)))
    return undefined
  })
}

/** Retries have the ID of the first attempt. */
function idOf({
  requestId,
  key,
}: {
  readonly requestId?: number | undefined
  readonly key?: unknown
}): string {
  return `${requestId} ${String(key)}`
}

/**
 * Events run in their caller's context: here that of each caller that waited, below that of the one that started it.
 */
function linkCaller(request: TracedRequest | undefined): void {
  const caller = trace.getActiveSpan()
  if (request && caller?.spanContext().spanId !== request.parentId)
    caller?.addLink({ context: request.span.spanContext() })
}

function startRequest(
  tracer: Tracer,
  event: TokenEvent & TokenEventOf<'token_requested'>,
  identityOf: IdentityOf,
): TracedRequest {
  const { attempt, reason } = event
  const caller = trace.getActiveSpan()?.spanContext()
  // No caller waits for a refresh in the background: its trace is linked to the one that caused it.
  const root = reason === 'refresh_ahead'
  const span = tracer.startSpan('token request', {
    kind: SpanKind.CLIENT,
    root,
    ...(root && caller && { links: [{ context: caller }] }),
    attributes: {
      ...identityOf(event),
      'tokenwell.request.reason': reason,
      ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
    },
  })
  return { span, parentId: root ? undefined : caller?.spanId }
}

function endRequest(
  { span }: TracedRequest,
  event: TokenEventOf<'token_failed'> | TokenEventOf<'token_received'>,
): void {
  if (event.type === 'token_failed') {
    const { oauthError, vendorCode } = event
    span.setAttributes({
      ...failureAttributes(event),
      ...(oauthError !== undefined && { 'tokenwell.oauth.error': knownOAuthError(oauthError) }),
      ...(vendorCode !== undefined && { 'tokenwell.vendor.code': knownVendorCode(vendorCode) }),
    })
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
