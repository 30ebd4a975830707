import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { createMemoryTokenStore, createTokenPool, createTokenProvider } from '@tokenwell/core'
import { instrumentTokens } from '@tokenwell/opentelemetry'
import { createFakeClock } from '@tokenwell/core/testing'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useTelemetry } from './telemetry.ts'

const servers = useTestServers()
const telemetry = useTelemetry()

async function pointsOf(metric: string) {
  await telemetry.flush()
  return telemetry.receiver.points().filter((point) => point.metric === `tokenwell.${metric}`)
}

describe('calls', () => {
  it('are recorded with the time that they waited and its cause, but not if a token is cached', async () => {
    onTestFinished(instrumentTokens(servers.tokens, telemetry))
    await Promise.all([1, 2, 3].map(() => servers.tokens.getToken()))
    await servers.tokens.getToken()
    const [waits, ...others] = await pointsOf('call.wait.duration')
    expect(waits).toMatchObject({
      unit: 's',
      count: 3,
      attributes: { 'tokenwell.wait.cause': 'token_request' },
    })
    expect(waits!.value).toBeGreaterThan(0)
    expect(others).toHaveLength(0)
    expect(await pointsOf('call.failures')).toHaveLength(0)
  })

  it('that fail are counted as their callers count them, even during a cooldown', async () => {
    onTestFinished(instrumentTokens(servers.tokens, telemetry))
    servers.endpoint.respond = () => json({ error: 'invalid_client' }, 401)
    let failed = 0
    const call = () => servers.tokens.getToken().catch(() => void failed++)
    await Promise.all([call(), call()])
    for (let repeated = 0; repeated < 98; repeated++) await call()
    await servers.tokens.getToken({ signal: AbortSignal.abort() }).catch(() => void failed++)
    expect(failed).toBe(101)
    const failures = await pointsOf('call.failures')
    const count = (cause: string) =>
      failures
        .filter(({ attributes }) => attributes['tokenwell.wait.cause'] === cause)
        .reduce((sum, { value }) => sum + value, 0)
    expect(count('cooldown')).toBeGreaterThanOrEqual(97)
    expect(count('token_request')).toBeGreaterThanOrEqual(2)
    expect(count('none')).toBe(1)
    expect(failures.reduce((sum, { value }) => sum + value, 0)).toBe(failed)
  })

  it('that wait for another process are distinguished', async () => {
    const store = createMemoryTokenStore()
    const [first, second] = [1, 2].map(() => createTokenProvider(servers.endpoint.source, { store }))
    onTestFinished(instrumentTokens(second!, telemetry))
    const { respond } = servers.endpoint
    const arrived = servers.endpoint.nextRequest()
    servers.endpoint.respond = async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 150))
      return respond(request)
    }
    const leading = first!.getToken()
    await arrived
    await second!.getToken()
    await leading
    expect(await pointsOf('call.wait.duration')).toMatchObject([
      { count: 1, attributes: { 'tokenwell.wait.cause': 'other_process' } },
    ])
    expect(await pointsOf('store.available')).toMatchObject([{ value: 1 }])
    await Promise.all([first!.close(), second!.close()])
  })
})

describe('a shared store', () => {
  it('is reported as unavailable until it works again', async () => {
    const clock = createFakeClock()
    const store = createMemoryTokenStore()
    let fails = true
    const read: typeof store.read = async (key) => {
      if (fails) throw Object.assign(new Error('No'), { code: 'ECONNREFUSED' })
      return store.read(key)
    }
    const tokens = createTokenProvider(servers.endpoint.source, { store: { ...store, read }, clock })
    onTestFinished(() => tokens.close())
    onTestFinished(instrumentTokens(tokens, telemetry))
    await tokens.getToken()
    expect(await pointsOf('store.available')).toMatchObject([{ value: 0 }])
    fails = false
    clock.advance(3_600_000)
    await tokens.getToken()
    expect(await pointsOf('store.available')).toMatchObject([{ value: 1 }])
  })
})

describe('spans', () => {
  it('are linked from the callers that shared a request, and not children of those after it', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    onTestFinished(() => context.disable())
    const clock = createFakeClock()
    const tokens = createTokenProvider(servers.endpoint.source, { clock })
    onTestFinished(() => tokens.close())
    onTestFinished(instrumentTokens(tokens, telemetry))
    const tracer = telemetry.tracerProvider.getTracer('test')
    const call = (name: string) =>
      tracer.startActiveSpan(name, async (span) => {
        await tokens.getToken()
        span.end()
      })
    await Promise.all([call('first'), call('second'), call('third')])
    // Due for refresh: this caller gets the cached token.
    clock.advance(3_400_000)
    const refreshed = new Promise<void>((resolve) => {
      onTestFinished(tokens.subscribe(({ type }) => type === 'token_received' && resolve()))
    })
    await call('late')
    await refreshed
    await telemetry.flush()
    const spans = telemetry.receiver.spans()
    const named = (name: string) => spans.filter((span) => span.name === name)
    const [request, background] = named('token request')
    expect(request!.parentSpanId).toBe(named('first')[0]!.spanId)
    expect(named('first')[0]!.links).toStrictEqual([])
    for (const name of ['second', 'third']) expect(named(name)[0]!.links).toStrictEqual([request!.spanId])
    expect(background).toMatchObject({ attributes: { 'tokenwell.request.reason': 'refresh_ahead' } })
    expect(background!.parentSpanId).toBeUndefined()
    expect(background!.traceId).not.toBe(named('late')[0]!.traceId)
    expect(named('late')[0]!.links).toStrictEqual([])
  })
})

describe('a pool', () => {
  const createPool = (maxEntries: number) => {
    const pool = createTokenPool(
      (key: string) =>
        createTokenProvider({
          cacheKey: async () => key,
          requestToken: async () => ({
            accessToken: `of ${key}`,
            tokenType: 'Bearer',
            expiresIn: 60,
            scope: [],
          }),
        }),
      { maxEntries },
    )
    onTestFinished(() => pool.close())
    return pool
  }

  it('is recorded as one, without its keys', async () => {
    const pool = createPool(10)
    onTestFinished(instrumentTokens(pool, { ...telemetry, name: 'tenants' }))
    for (let tenant = 0; tenant < 20; tenant++) await pool.for(`tenant-${tenant}`).getToken()
    const points = await pointsOf('token.request.duration')
    expect(points.map(({ count, attributes }) => ({ count, attributes }))).toEqual([
      {
        count: 20,
        attributes: { 'tokenwell.provider.name': 'tenants', 'tokenwell.request.reason': 'first' },
      },
    ])
    expect(telemetry.receiver.received()).not.toContain('tenant-')
  })

  it('is recorded with a limited number of keys on request', async () => {
    const pool = createPool(10)
    onTestFinished(instrumentTokens(pool, { ...telemetry, maxKeys: 2 }))
    for (let tenant = 0; tenant < 20; tenant++) await pool.for(`tenant-${tenant}`).getToken()
    const points = await pointsOf('token.request.duration')
    const counts = points.map(({ attributes, count }) => [attributes['tokenwell.pool.key'], count])
    expect(counts).toStrictEqual([
      ['tenant-0', 1],
      ['tenant-1', 1],
      ['other', 18],
    ])
  })

  it('does not keep evicted keys', async () => {
    const pool = createPool(1)
    onTestFinished(instrumentTokens(pool, telemetry))
    let collected = 0
    const registry = new FinalizationRegistry(() => void collected++)
    for (let tenant = 0; tenant < 300; tenant++) {
      const provider = pool.for(`tenant-${tenant}`)
      await provider.getToken()
      registry.register(provider, tenant)
    }
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    await expect.poll(() => (gc(), collected)).toBeGreaterThan(250)
  })
})
