import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  clientCredentials,
  createTokenPool,
  type FetchLike,
  type TokenEvent,
  type TokenEventListener,
} from '@tokenwell/core'
import { instrumentTokens } from '@tokenwell/opentelemetry'
import { createFakeClock } from '@tokenwell/core/testing'
import { json, noResponse } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import type { ReceivedSpan } from './otlp-receiver.ts'
import { useTelemetry } from './telemetry.ts'

const servers = useTestServers()
const telemetry = useTelemetry()
const client = 3

/** In the order in which they started: that of the token request before the one below it. */
function inOrder(received: readonly ReceivedSpan[]): readonly ReceivedSpan[] {
  const names = ['token request', 'POST']
  return received
    .filter(({ name }) => names.includes(name))
    .toSorted((one, other) => one.start - other.start || names.indexOf(one.name) - names.indexOf(other.name))
}

function instrument(tokens = servers.tokens): void {
  const { tracerProvider } = telemetry
  onTestFinished(instrumentTokens(tokens, { tracerProvider, name: 'speech' }))
}

async function spans() {
  await telemetry.flush()
  return telemetry.receiver.spans()
}

describe('spans', () => {
  it('start when a token request is sent and end with its response', async () => {
    instrument()
    const { respond } = servers.endpoint
    let received = 0
    servers.endpoint.respond = (request) => {
      received = Date.now()
      return respond(request)
    }
    const before = Date.now()
    await servers.tokens.getToken()
    const after = Date.now()
    const [span, ...others] = await spans()
    expect(others).toHaveLength(0)
    expect(span).toMatchObject({
      name: 'token request',
      kind: client,
      failed: false,
      attributes: { 'tokenwell.request.reason': 'first', 'tokenwell.provider.name': 'speech' },
    })
    // Clocks of one machine differ by the fraction of a millisecond.
    const times = [before, span!.start, received, span!.end, after].map(Math.round)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
  })

  it('record each attempt with its failure and its number', async () => {
    instrument()
    const responses = [
      json({ fault: { faultstring: 'x', detail: { errorcode: 'policies.Broken' } } }, 503),
      json({ error: 'invalid_client' }, 401),
    ]
    servers.endpoint.respond = () => responses.shift()!
    await expect(servers.tokens.getToken()).rejects.toThrow('rejected the client credentials')
    const [first, second, ...others] = await spans()
    expect(others).toHaveLength(0)
    expect(first).toMatchObject({ failed: true })
    expect(first?.attributes).toStrictEqual({
      'tokenwell.provider.name': 'speech',
      'tokenwell.request.reason': 'first',
      'error.type': 'unavailable',
      'http.response.status_code': 503,
      'tokenwell.vendor.code': 'policies.Broken',
    })
    expect(second).toMatchObject({
      failed: true,
      attributes: {
        'error.type': 'credentials',
        'http.response.status_code': 401,
        'tokenwell.oauth.error': 'invalid_client',
        'http.request.resend_count': 1,
      },
    })
  })

  it('show no code that a server made up, such as the client ID', async () => {
    instrument()
    servers.endpoint.respond = () =>
      json({ error: 'the-client', fault: { faultstring: 'x', detail: { errorcode: 'the.client' } } }, 400)
    await expect(servers.tokens.getToken()).rejects.toThrow()
    const [span] = await spans()
    expect(span?.attributes).toMatchObject({
      'tokenwell.oauth.error': 'other',
      'tokenwell.vendor.code': 'other',
    })
  })

  it('end when a request is cancelled because no caller waits for it', async () => {
    instrument()
    servers.endpoint.respond = () => noResponse
    const controller = new AbortController()
    const call = servers.tokens.getToken({ signal: controller.signal })
    await servers.endpoint.nextRequest()
    controller.abort(new Error('Changed my mind'))
    await expect(call).rejects.toThrow('Changed my mind')
    expect(await spans()).toMatchObject([{ failed: true, attributes: { 'error.type': 'aborted' } }])
  })

  it('are children of the span of the caller that started the request', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    onTestFinished(() => context.disable())
    instrument()
    const callers = ['first', 'second'].map((name) =>
      telemetry.tracerProvider.getTracer('test').startSpan(name),
    )
    await Promise.all(
      callers.map((caller) =>
        context.with(trace.setSpan(context.active(), caller), () => servers.tokens.getToken()),
      ),
    )
    const [span, ...others] = await spans()
    expect(others).toHaveLength(0)
    const { traceId, spanId } = callers[0]!.spanContext()
    expect(span).toMatchObject({ traceId, parentSpanId: spanId })
  })

  it('have the spans of the HTTP client below them, also those of a refresh in the background, which link to its cause', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    onTestFinished(() => context.disable())
    const tracer = telemetry.tracerProvider.getTracer('test')
    const tracedFetch: FetchLike = async (url, init) => {
      const span = tracer.startSpan('POST')
      await Promise.resolve()
      return fetch(url, init).finally(() => span.end())
    }
    const clock = createFakeClock()
    const pool = createTokenPool((key: string) =>
      clientCredentials({
        tokenEndpoint: `${servers.endpoint.origin}/token`,
        clientId: key,
        clientSecret: 'secret',
        fetch: tracedFetch,
        clock,
      }),
    )
    onTestFinished(() => pool.close())
    onTestFinished(instrumentTokens(pool, telemetry))
    const call = (name: string) =>
      tracer.startActiveSpan(name, async (span) => {
        await pool.for('a').getToken()
        span.end()
        return span.spanContext()
      })
    const first = await call('first call')
    const [request, post] = inOrder(await spans())
    expect(request).toMatchObject({ traceId: first.traceId, parentSpanId: first.spanId, links: [] })
    expect(post).toMatchObject({ traceId: first.traceId, parentSpanId: request!.spanId })
    clock.advance(3_450_000)
    const second = await call('second call')
    await expect.poll(async () => (await spans()).length).toBe(6)
    const [, , refresh, refreshPost] = inOrder(await spans())
    expect(refresh).toMatchObject({ links: [second.spanId] })
    expect(refresh).not.toHaveProperty('parentSpanId')
    expect(refresh!.traceId).not.toBe(second.traceId)
    expect(refreshPost).toMatchObject({ traceId: refresh!.traceId, parentSpanId: refresh!.spanId })
  })

  it('are linked to callers of the last 100 requests', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    onTestFinished(() => context.disable())
    const listeners: TokenEventListener[] = []
    const source = { subscribe: (listener: TokenEventListener) => (listeners.push(listener), () => {}) }
    onTestFinished(instrumentTokens(source, telemetry))
    const emit = (event: TokenEvent) => listeners.forEach((listener) => listener(event))
    const count = 101
    for (let requestId = 1; requestId <= count; requestId++) {
      const request = { requestId, reason: 'first', attempt: 1 } as const
      emit({ type: 'token_requested', ...request })
      emit({ type: 'token_received', from: 'endpoint', ...request, durationMs: 1, remainingMs: 1 })
    }
    const tracer = telemetry.tracerProvider.getTracer('test')
    for (const requestId of [1, 2, count]) {
      tracer.startActiveSpan(`caller ${requestId}`, (span) => {
        emit({ type: 'call_settled', durationMs: 1, waitedFor: 'token_request', requestId })
        span.end()
      })
    }
    const callers = (await spans()).filter(({ name }) => name.startsWith('caller'))
    expect(callers.map(({ links }) => links.length)).toEqual([0, 1, 1])
  })
})
