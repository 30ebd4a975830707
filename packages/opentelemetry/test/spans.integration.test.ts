import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTokenProvider, type TokenEvent, type TokenEventListener } from '@tokenwell/core'
import { instrumentTokens } from '@tokenwell/opentelemetry'
import { createFakeClock } from '@tokenwell/core/testing'
import { json, noResponse } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { useTelemetry } from './telemetry.ts'

const servers = useTestServers()
const telemetry = useTelemetry()
const client = 3

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
    const clock = createFakeClock()
    const tokens = createTokenProvider(servers.endpoint.source, { clock })
    onTestFinished(() => tokens.close())
    instrument(tokens)
    const { respond } = servers.endpoint
    servers.endpoint.respond = (request) => {
      clock.advance(1500)
      return respond(request)
    }
    const before = Date.now()
    await tokens.getToken()
    const after = Date.now()
    const [span, ...others] = await spans()
    expect(others).toHaveLength(0)
    expect(span).toMatchObject({
      name: 'token request',
      kind: client,
      failed: false,
      attributes: { 'tokenwell.request.reason': 'first', 'tokenwell.provider.name': 'speech' },
    })
    expect(span!.end).toBeGreaterThanOrEqual(before)
    expect(span!.end).toBeLessThanOrEqual(after)
    expect(span!.end - span!.start).toBeCloseTo(1500)
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

  it('are linked to callers of the last 100 requests', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    onTestFinished(() => context.disable())
    const listeners: TokenEventListener[] = []
    const source = { subscribe: (listener: TokenEventListener) => (listeners.push(listener), () => {}) }
    onTestFinished(instrumentTokens(source, telemetry))
    const emit = (event: TokenEvent) => listeners.forEach((listener) => listener(event))
    const count = 101
    for (let requestId = 1; requestId <= count; requestId++) {
      const request = { requestId, reason: 'first', attempt: 1, durationMs: 1, remainingMs: 1 } as const
      emit({ type: 'token_received', from: 'endpoint', ...request })
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
