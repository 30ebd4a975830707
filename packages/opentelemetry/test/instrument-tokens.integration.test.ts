import {
  metrics,
  trace,
  type Meter,
  type MeterProvider,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import { MeterProvider as SdkMeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { SimpleSpanProcessor, TracerProvider as SdkTracerProvider } from '@opentelemetry/sdk-trace'
import { clientCredentials, createTokenFetch } from '@tokenwell/core'
import { instrumentTokens } from '@tokenwell/opentelemetry'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { useTelemetry } from './telemetry.ts'

const servers = useTestServers()
const telemetry = useTelemetry()

describe('instrumentTokens', () => {
  it('records nothing when a cached token is returned', async () => {
    const on = vi.spyOn(servers.tokens, 'subscribe')
    onTestFinished(instrumentTokens(servers.tokens, telemetry))
    await servers.tokens.getToken()
    expect(on).toHaveBeenCalled()
    await telemetry.flush()
    const counts = () => telemetry.receiver.points().map(({ count, metric }) => [metric, count])
    const before = counts()
    const listener = vi.fn()
    servers.tokens.subscribe(listener)
    for (let call = 0; call < 1000; call++) await servers.tokens.getToken()
    servers.tokens.peekToken()
    await telemetry.flush()
    expect(listener).not.toHaveBeenCalled()
    expect(counts()).toStrictEqual(before)
    expect(telemetry.receiver.spans()).toHaveLength(1)
  })

  it('stops all of its own instruments and no others', async () => {
    const stop = instrumentTokens(servers.tokens, { ...telemetry, name: 'ended' })
    onTestFinished(instrumentTokens(servers.tokens, { ...telemetry, name: 'going on' }))
    await servers.tokens.getToken()
    stop()
    stop()
    await servers.tokens.getToken({ forceRefresh: true })
    await telemetry.flush()
    const ended = telemetry.receiver
      .points()
      .filter(({ attributes }) => attributes['tokenwell.provider.name'] === 'ended')
    // The gauge was not observed before, and is not now.
    expect(ended.map(({ metric, count }) => [metric, count])).toStrictEqual([
      ['tokenwell.token.request.duration', 1],
      ['tokenwell.call.wait.duration', 1],
      ['tokenwell.token.lifetime', 1],
    ])
    const names = telemetry.receiver.spans().map(({ attributes }) => attributes['tokenwell.provider.name'])
    expect(names).toStrictEqual(['ended', 'going on', 'going on'])
  })

  it('uses the global providers by default, and works without them', async () => {
    instrumentTokens(servers.tokens)()
    trace.setGlobalTracerProvider(telemetry.tracerProvider)
    metrics.setGlobalMeterProvider(telemetry.meterProvider)
    onTestFinished(() => {
      trace.disable()
      metrics.disable()
    })
    onTestFinished(instrumentTokens(servers.tokens))
    await servers.tokens.getToken()
    await telemetry.flush()
    expect(telemetry.receiver.spans()).toHaveLength(1)
    expect(telemetry.receiver.points()).toHaveLength(4)
  })

  it('exports neither secret, token, client ID nor URL', async () => {
    const canaries = ['canary-secret', 'canary-client', 'canary-token', 'canary-text']
    const [clientSecret, clientId, token, text] = canaries as [string, string, string, string]
    const tokens = clientCredentials({ authUrl: servers.endpoint.origin, clientId, clientSecret })
    onTestFinished(() => tokens.close())
    onTestFinished(instrumentTokens(tokens, telemetry))
    const responses = [
      json({ access_token: token, refresh_token: token, developer_email: text }),
      json({ error: clientSecret, error_description: text }, 400),
      json({ access_token: token, application_name: text, expires_in: 60 }),
      json({ access_token: token, expires_in: 60 }),
    ]
    servers.endpoint.respond = () => responses.shift()!
    await tokens.getToken()
    await expect(tokens.getToken({ forceRefresh: true })).rejects.toThrow("repeated the client's credentials")
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: [servers.api.origin] })
    servers.api.rejects = () => true
    // The cooldown after the failure leaves no replacement for the rejected token.
    await expect(apiFetch(`${servers.api.origin}/${text}`)).rejects.toThrow(
      "repeated the client's credentials",
    )
    await apiFetch(`${servers.other.origin}/${text}`)
    await telemetry.flush()
    const received = telemetry.receiver.received()
    expect(received).toContain('tokenwell.token.rejections')
    expect(received).toContain('tokenwell.token.withheld_requests')
    for (const canary of [...canaries, servers.endpoint.origin, servers.api.origin, servers.other.origin]) {
      expect(received).not.toContain(canary)
    }
  })

  it('does not fail callers if an exporter throws', async () => {
    const fault = () => {
      throw new Error('The exporter is broken')
    }
    const broken = { export: fault, forceFlush: fault, shutdown: async () => {} }
    const reader = new PeriodicExportingMetricReader({ exporter: broken })
    const meterProvider = new SdkMeterProvider({ readers: [reader] })
    const tracerProvider = new SdkTracerProvider({
      spanProcessors: [new SimpleSpanProcessor({ exporter: broken })],
    })
    onTestFinished(instrumentTokens(servers.tokens, { meterProvider, tracerProvider }))
    const { value } = await servers.tokens.getToken()
    expect(value).toBe(servers.endpoint.issued[0])
  })

  it('does not fail callers or the other signal if a meter or tracer throws', async () => {
    const fault = () => {
      throw new Error('Broken')
    }
    const brokenTracers = {
      getTracer: () => ({ startSpan: fault }) as unknown as Tracer,
    } satisfies TracerProvider
    const instrument = { record: fault, add: fault, addCallback: () => {}, removeCallback: () => {} }
    const create = () => instrument
    const meter = {
      createHistogram: create,
      createCounter: create,
      createGauge: create,
      createObservableGauge: create,
    }
    const brokenMeters = { getMeter: () => meter as unknown as Meter } satisfies MeterProvider
    const { meterProvider, tracerProvider } = telemetry
    onTestFinished(instrumentTokens(servers.tokens, { meterProvider, tracerProvider: brokenTracers }))
    onTestFinished(instrumentTokens(servers.tokens, { meterProvider: brokenMeters, tracerProvider }))
    await servers.tokens.getToken()
    await telemetry.flush()
    expect(telemetry.receiver.spans()).toHaveLength(1)
    expect(telemetry.receiver.points()).toHaveLength(4)
  })
})
