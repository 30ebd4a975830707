import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { TokenEvent, TokenEventListener, TokenProvider } from '@tokenwell/core'
import { instrumentTokens, instrumentVerifier, type ObservedVerification } from '@tokenwell/opentelemetry'
import { createTestVerifier } from '@tokenwell/resource-server/testing'
import { useTelemetry } from './telemetry.ts'

const telemetry = useTelemetry()
const page = readFileSync(new URL('../../../docs/telemetry.md', import.meta.url), 'utf8')

interface ExportedMetric {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly histogram?: { dataPoints: { sum: number; explicitBounds: number[] }[] }
  readonly sum?: object
  readonly gauge?: object
}

interface ExportedMetrics {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly scope: { readonly name: string }
      readonly metrics: readonly ExportedMetric[]
    }[]
  }[]
}

/** What was exported: kind, name, unit and description of each metric. */
async function exported() {
  await telemetry.flush()
  const [request] = telemetry.receiver.requests.filter(({ url }) => url === '/v1/metrics').slice(-1)
  const { resourceMetrics } = JSON.parse(request!.body) as ExportedMetrics
  const scopes = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics)
  expect(scopes.map(({ scope }) => scope.name)).toEqual(['@tokenwell/opentelemetry'])
  const metrics = scopes[0]!.metrics.toSorted((a, b) => a.name.localeCompare(b.name))
  const described = metrics.map(({ name, unit, description, histogram, sum }) => {
    const kind = histogram ? 'histogram' : sum ? 'counter' : 'gauge'
    expect(page).toContain(`\`${name}\`, ${kind}${unit === 's' ? ' in `s`' : ''} `)
    return [kind, name, unit, description].join(' | ')
  })
  return { described, metrics }
}

it('says what to pass in place of a source', () => {
  const source = { cacheKey: async () => 'key', requestToken: async () => expect.fail() }
  expect(() => instrumentTokens(source as never)).toThrow('takes a token provider or a pool.')
})

it('the metrics of tokens have names, units and descriptions, as the page on telemetry shows', async () => {
  const listeners: TokenEventListener[] = []
  const request = { requestId: 1, reason: 'first', attempt: 1 } as const
  const tokens = {
    subscribe: (listener: TokenEventListener) => (listeners.push(listener), () => {}),
    peekToken: () => undefined,
  } as unknown as TokenProvider
  instrumentTokens(tokens, { ...telemetry, maxKeys: 1 })
  const events: TokenEvent[] = [
    { type: 'token_requested', ...request },
    { type: 'token_received', ...request, from: 'endpoint', durationMs: 250, remainingMs: 5_000 },
    { type: 'call_settled', durationMs: 250, waitedFor: 'token_request', requestId: 1 },
    { type: 'call_settled', durationMs: 0, kind: 'credentials' },
    { type: 'token_rejected', remainingMs: 1_000, refreshing: true },
    { type: 'token_withheld', origin: 'https://api.example.com' },
    { type: 'token_skipped', origin: 'https://api.example.com' },
    { type: 'lifetime_unknown', requestId: 1, problem: 'missing', assumedMs: 1_000 },
    { type: 'store_unavailable', operation: 'read', cause: 'ECONNREFUSED' },
  ]
  for (const event of events) for (const listener of listeners) listener(event)

  const { described, metrics } = await exported()
  expect(described).toEqual([
    'counter | tokenwell.call.failures | {call} | Calls that got no token',
    'histogram | tokenwell.call.wait.duration | s | Time that callers waited for a token',
    'gauge | tokenwell.store.available | {store} | 1 if the shared store worked when it was last used, otherwise 0',
    'counter | tokenwell.store.failures | {failure} | Failed operations of the shared store',
    'histogram | tokenwell.token.lifetime | s | Remaining lifetime of tokens when they were received',
    'counter | tokenwell.token.rejections | {rejection} | Tokens that an API rejected',
    'gauge | tokenwell.token.remaining_lifetime | s | Remaining lifetime of the cached token; 0 without one',
    'histogram | tokenwell.token.request.duration | s | Duration of requests to the token endpoint',
    'counter | tokenwell.token.skipped_requests | {request} | Requests sent without a token because they had a header already',
    'counter | tokenwell.token.unknown_lifetimes | {token} | Tokens received without a valid lifetime',
    'counter | tokenwell.token.withheld_requests | {request} | Requests sent without a token because their origin is not allowed',
  ])
  const histograms = metrics.flatMap(({ histogram }) => histogram?.dataPoints ?? [])
  expect(histograms.map(({ sum }) => sum)).toEqual([0.25, 5, 0.25])
  const [wait, lifetime, duration] = histograms.map(({ explicitBounds }) => explicitBounds)
  expect(wait).toEqual([0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30])
  expect(lifetime).toEqual([10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800])
  expect(duration).toEqual(wait)
})

it('the metrics of verified tokens have names, units and descriptions, as the page on telemetry shows', async () => {
  let emit: ((event: ObservedVerification) => void) | undefined
  instrumentVerifier({ subscribe: (listener) => ((emit = listener), () => {}) }, telemetry)
  emit!({ type: 'request_accepted', cached: true, anonymous: false })
  emit!({ type: 'token_checked', method: 'jwt', result: 'valid', durationMs: 250 })

  const { described, metrics } = await exported()
  expect(described).toEqual([
    'histogram | tokenwell.verification.check.duration | s | Time to introspect a token or to verify its signature',
    'counter | tokenwell.verification.requests | {request} | Requests checked for a valid access token, by result',
  ])
  expect(metrics[0]?.histogram?.dataPoints).toMatchObject([
    {
      sum: 0.25,
      explicitBounds: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    },
  ])
})

it('counts verified requests by outcome, times checks, and exports no token or client ID', async () => {
  const { verifier, createTestToken } = createTestVerifier()
  const stop = instrumentVerifier(verifier, { ...telemetry, name: 'orders' })
  const token = createTestToken({ clientId: 'a-client' })
  await verifier.verify(`Bearer ${token}`)
  await verifier.verify(undefined).catch(() => {})
  await verifier.verify(`Bearer ${token}`, { products: ['orders'] }).catch(() => {})
  await verifier.verify(undefined, { optional: true })
  stop()
  await verifier.verify(`Bearer ${token}`)
  await telemetry.flush()
  const points = telemetry.receiver.points()
  const name = { 'tokenwell.verifier.name': 'orders' }
  const outcomes = points.filter(({ metric }) => metric === 'tokenwell.verification.requests')
  expect(outcomes.map(({ value, attributes }) => ({ value, attributes }))).toEqual([
    {
      value: 1,
      attributes: { ...name, 'tokenwell.verification.result': 'accepted', 'tokenwell.cached': false },
    },
    {
      value: 1,
      attributes: {
        ...name,
        'tokenwell.verification.result': 'missing_token',
        'http.response.status_code': 401,
      },
    },
    {
      value: 1,
      attributes: {
        ...name,
        'tokenwell.verification.result': 'insufficient_scope',
        'http.response.status_code': 403,
      },
    },
    {
      value: 1,
      attributes: { ...name, 'tokenwell.verification.result': 'anonymous', 'tokenwell.cached': false },
    },
  ])
  const [check] = points.filter(({ metric }) => metric === 'tokenwell.verification.check.duration')
  expect(check).toMatchObject({
    unit: 's',
    count: 2,
    attributes: { ...name, 'tokenwell.check.method': 'introspection', 'tokenwell.check.result': 'valid' },
  })
  const exported = JSON.stringify(telemetry.receiver.requests)
  for (const secret of [token, 'a-client']) expect(exported).not.toContain(secret)
})
