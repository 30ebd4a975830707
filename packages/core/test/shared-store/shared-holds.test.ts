import { describe, expect, it } from 'vitest'
import { createMemoryTokenStore, createTokenProvider } from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../fake-time.ts'
import { ScriptedEndpoint, unavailable, wrongSecret, type ScriptedAnswer } from '../scripted-endpoint.ts'
import { keyedSource } from './keyed-source.ts'

useFakeTime()

function fleet(size: number, answer: ScriptedAnswer) {
  const endpoint = new ScriptedEndpoint(answer)
  const store = createMemoryTokenStore()
  const providers = Array.from({ length: size }, () => createTokenProvider(keyedSource(endpoint), { store }))
  return { endpoint, store, providers, first: providers[0]!, second: providers[1]! }
}

describe('a refusal of the credentials', () => {
  it('is held for the whole fleet: one request, then the same error for all', async () => {
    const { endpoint, providers } = fleet(10, wrongSecret)
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(2_500)
    for (const { error } of calls) {
      expect(error).toMatchObject({ name: 'TokenError', kind: 'credentials', oauthError: 'invalid_client' })
    }
    expect(endpoint.requests).toHaveLength(1)
  })

  it('holds forced calls as well', async () => {
    const { endpoint, first, second } = fleet(2, wrongSecret)
    await first.getToken().catch(() => {})
    await expect(second.getToken({ forceRefresh: true })).rejects.toMatchObject({ kind: 'credentials' })
    expect(endpoint.requests).toHaveLength(1)
  })

  it('is held for thirty seconds at most, then probed once', async () => {
    const { endpoint, providers } = fleet(10, { ...wrongSecret, latencyMs: 50 })
    for (let second = 0; second < 40; second++) {
      for (const tokens of providers) watch(tokens.getToken())
      await pass(1_000)
    }
    expect(endpoint.requests).toHaveLength(2)
    expect(endpoint.requests[1]!.atMs - endpoint.requests[0]!.atMs).toBeGreaterThanOrEqual(30_000)
  })

  it('ends for all with any success', async () => {
    const { endpoint, store, first, second } = fleet(2, wrongSecret)
    await first.getToken().catch(() => {})
    endpoint.script = {}
    const lease = await store.lease('key', 1_000)
    const response = { accessToken: 'by-another', tokenType: 'Bearer', expiresIn: 100, scope: [] } as const
    await lease?.write(response, 100_000)
    await lease?.release()
    expect((await second.getToken()).value).toBe('by-another')
  })

  it('leaves the token in service that another still has', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 100 })
    await first.getToken()
    endpoint.script = wrongSecret
    await first.getToken({ forceRefresh: true }).catch(() => {})
    await pass(10)
    expect((await second.getToken()).value).toBe('token-1')
  })

  it.each<[string, ScriptedAnswer]>([
    ['unauthorized_client', { status: 400, body: { error: 'unauthorized_client' } }],
    ['a bare 401', { status: 401, body: '' }],
    [
      'a gateway’s fault',
      { status: 500, body: { fault: { detail: { errorcode: 'oauth.v2.InvalidClientIdentifier' } } } },
    ],
    ['an endpoint that is unavailable', unavailable],
    ['a wrong path', { status: 404, body: '' }],
  ])('other than an explicit invalid_client (%s) is not held for others', async (_name, answer) => {
    const { endpoint, first, second } = fleet(2, answer)
    watch(first.getToken())
    await pass(10_000)
    endpoint.script = {}
    await expect(second.getToken()).resolves.toBeDefined()
  })

  it('does not keep anything but the facts in the store', async () => {
    const { store, first } = fleet(1, {
      status: 401,
      body: { error: 'invalid_client', error_description: 'canary' },
    })
    await first.getToken().catch(() => {})
    const held = await store.read('key')
    expect(held).toMatchObject({ error: { kind: 'credentials', status: 401, oauthError: 'invalid_client' } })
    expect(JSON.stringify(held)).not.toContain('canary')
  })
})
