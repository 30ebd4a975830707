import {
  createTokenFetch,
  createTokenProvider,
  type TokenProvider,
  type TokenProviderOptions,
} from '@tokenwell/core'
import { tokenSharing } from '@tokenwell/core/adapter'
import { instrumentTokens } from '@tokenwell/opentelemetry'
import { createFakeClock } from '@tokenwell/core/testing'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { useTelemetry } from './telemetry.ts'

const servers = useTestServers()
const telemetry = useTelemetry()

function instrumented(options?: TokenProviderOptions, name?: string): TokenProvider {
  const tokens = options ? createTokenProvider(servers.endpoint.source, options) : servers.tokens
  onTestFinished(() => tokens.close())
  onTestFinished(instrumentTokens(tokens, { ...telemetry, name }))
  return tokens
}

async function pointsOf(metric: string) {
  await telemetry.flush()
  return telemetry.receiver.points().filter((point) => point.metric === `tokenwell.${metric}`)
}

const oauthError = (error: string, status: number) => json({ error }, status)

describe('metrics', () => {
  it('record the duration of requests in seconds and their outcome', async () => {
    const clock = createFakeClock()
    const tokens = instrumented({ clock })
    const { respond } = servers.endpoint
    const taking = (ms: number) => clock.advance(ms)
    servers.endpoint.respond = (request) => (taking(1500), respond(request))
    await tokens.getToken()
    servers.endpoint.respond = () => (taking(2500), oauthError('invalid_scope', 400))
    await expect(tokens.getToken({ forceRefresh: true })).rejects.toThrow('rejected the request')
    const [received, failed, ...others] = await pointsOf('token.request.duration')
    expect(received).toMatchObject({
      unit: 's',
      count: 1,
      attributes: { 'tokenwell.request.reason': 'first' },
    })
    expect(received?.value).toBeCloseTo(1.5)
    expect(failed?.value).toBeCloseTo(2.5)
    expect(received?.bounds).toContain(0.25)
    expect(failed).toMatchObject({
      count: 1,
      attributes: {
        'tokenwell.request.reason': 'forced',
        'error.type': 'configuration',
        'http.response.status_code': 400,
      },
    })
    expect(others).toHaveLength(0)
  })

  it('count each attempt of a request', async () => {
    const noDelay = vi.spyOn(Math, 'random').mockReturnValue(0)
    onTestFinished(() => noDelay.mockRestore())
    const { respond } = servers.endpoint
    servers.endpoint.respond = (request) =>
      servers.endpoint.requests.length < 3 ? { status: 503 } : respond(request)
    await instrumented().getToken()
    const [failed, received] = await pointsOf('token.request.duration')
    expect(failed).toMatchObject({ count: 2, attributes: { 'error.type': 'unavailable' } })
    expect(received).toMatchObject({ count: 1 })
  })

  it('record the lifetime of tokens and the remaining lifetime of the cached one', async () => {
    const tokens = instrumented()
    expect(await pointsOf('token.remaining_lifetime')).toMatchObject([{ value: 0 }])
    await tokens.getToken()
    const [lifetime] = await pointsOf('token.lifetime')
    expect(lifetime).toMatchObject({
      unit: 's',
      count: 1,
      attributes: { 'tokenwell.token.origin': 'endpoint' },
    })
    expect(Math.round(lifetime!.value)).toBe(3600)
    const [left] = await pointsOf('token.remaining_lifetime')
    expect(left?.unit).toBe('s')
    expect(left?.value).toBeGreaterThan(3500)
    expect(left?.value).toBeLessThanOrEqual(3600)
    await tokens.close()
    expect(await pointsOf('token.remaining_lifetime')).toMatchObject([{ value: 0 }])
  })

  it('count rejected tokens and requests without a token', async () => {
    const tokens = instrumented()
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: [servers.api.origin] })
    servers.api.rejects = (token) => token === servers.endpoint.issued[0]
    await apiFetch(servers.api.origin)
    await apiFetch(servers.other.origin)
    expect(await pointsOf('token.rejections')).toMatchObject([
      { unit: '{rejection}', value: 1, attributes: { 'tokenwell.token.refreshing': true } },
    ])
    expect(await pointsOf('token.withheld_requests')).toStrictEqual([
      { metric: 'tokenwell.token.withheld_requests', unit: '{request}', value: 1, attributes: {} },
    ])
  })

  it('count tokens without a lifetime', async () => {
    servers.endpoint.respond = () => json({ access_token: 'a-token' })
    await instrumented().getToken()
    expect(await pointsOf('token.unknown_lifetimes')).toMatchObject([
      { unit: '{token}', value: 1, attributes: { 'tokenwell.lifetime.problem': 'missing' } },
    ])
  })

  it('count failures of a shared store, and distinguish its tokens from those of the endpoint', async () => {
    const response = { accessToken: 'shared', tokenType: 'Bearer', expiresIn: 60, scope: [] } as const
    const broken = async () => {
      throw Object.assign(new Error('No'), { code: 'ECONNREFUSED' })
    }
    const failing = { sharing: tokenSharing, read: broken, lease: broken, remove: broken }
    const sharing = { ...failing, read: async () => ({ id: '1', response, remainingMs: 60_000 }) }
    await instrumented({ store: failing }, 'failing').getToken()
    await instrumented({ store: sharing }, 'sharing').getToken()
    expect(await pointsOf('store.failures')).toMatchObject([
      {
        unit: '{failure}',
        attributes: { 'tokenwell.store.operation': 'read', 'error.type': 'ECONNREFUSED' },
      },
    ])
    const lifetimes = await pointsOf('token.lifetime')
    expect(lifetimes.map(({ attributes }) => attributes['tokenwell.token.origin'])).toStrictEqual([
      'endpoint',
      'store',
    ])
    // Reading from the store is not a token request.
    expect(await pointsOf('token.request.duration')).toHaveLength(1)
    expect(telemetry.receiver.spans()).toHaveLength(1)
  })

  it('count the unknown codes of a store as one', async () => {
    for (let index = 0; index < 50; index++) {
      const broken = async () => {
        throw Object.assign(new Error('No'), { code: `CODE_${index}` })
      }
      const store = { sharing: tokenSharing, read: broken, lease: broken, remove: broken }
      await instrumented({ store }).getToken()
    }
    expect(await pointsOf('store.failures')).toMatchObject([
      { value: 50, attributes: { 'error.type': 'other' } },
    ])
  })

  it('do not grow with the number of token requests', async () => {
    const tokens = instrumented()
    for (let round = 0; round < 50; round++) await tokens.getToken({ forceRefresh: true })
    expect(await pointsOf('token.request.duration')).toMatchObject([{ count: 50 }])
    expect(await pointsOf('token.lifetime')).toMatchObject([{ count: 50 }])
  })

  it('distinguish providers by their names', async () => {
    for (const name of ['speech', 'billing']) {
      const tokens = instrumented({}, name)
      await tokens.getToken()
    }
    for (const metric of ['token.request.duration', 'token.remaining_lifetime']) {
      const points = await pointsOf(metric)
      expect(points.map(({ attributes }) => attributes['tokenwell.provider.name'])).toStrictEqual([
        'speech',
        'billing',
      ])
    }
  })
})
