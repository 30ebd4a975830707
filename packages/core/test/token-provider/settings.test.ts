import { describe, expect, it } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenPool,
  createTokenProvider,
  type TokenProviderOptions,
} from '@tokenwell/core'
import { ScriptedEndpoint, sourceOf } from '../scripted-endpoint.ts'

const make = (options: object) => () => createTokenProvider(sourceOf(new ScriptedEndpoint()), options)

describe('the options of a provider', () => {
  it.each([
    'refreshAheadMs',
    'expiryMarginMs',
    'defaultLifetimeMs',
    'timeoutMs',
    'attemptTimeoutMs',
    'maxAttempts',
  ])('name %s when it cannot be right', (name) => {
    for (const value of [Number.NaN, -1, '1000', null, {}]) {
      const mistake = {
        name: 'TokenError',
        kind: 'configuration',
        message: expect.stringContaining(name) as string,
      }
      expect(make({ [name]: value })).toThrow(expect.objectContaining(mistake))
    }
  })

  it.each(['defaultLifetimeMs', 'timeoutMs', 'attemptTimeoutMs', 'maxAttempts'])(
    'take no zero for %s',
    (name) => {
      expect(make({ [name]: 0 })).toThrow(expect.objectContaining({ kind: 'configuration' }))
    },
  )

  it('name a store that cannot share tokens', () => {
    const { sharing, ...store } = createMemoryTokenStore()
    expect(make({ store })).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: 'store has no `sharing`. Add `sharing: tokenSharing` from @tokenwell/core.',
      }),
    )
    expect(make({ store: { ...store, sharing } })).not.toThrow()
  })

  it('that are undefined count as not given', async () => {
    const all = [
      'store',
      'refreshAheadMs',
      'expiryMarginMs',
      'defaultLifetimeMs',
      'timeoutMs',
      'attemptTimeoutMs',
    ]
    const rest = ['maxAttempts', 'eager', 'onEvent', 'clock']
    const tokens = make(Object.fromEntries([...all, ...rest].map((name) => [name, undefined])))()
    await expect(tokens.getToken()).resolves.toBeDefined()
  })

  it('may be infinite: no timer overflows', async () => {
    const tokens = make({ timeoutMs: Infinity, attemptTimeoutMs: Infinity, refreshAheadMs: Infinity })()
    await expect(tokens.getToken()).resolves.toBeDefined()
  })

  it('may be infinite', async () => {
    const endpoint = new ScriptedEndpoint({ latencyMs: 20 })
    const tokens = createTokenProvider(sourceOf(endpoint), {
      timeoutMs: Infinity,
      attemptTimeoutMs: Infinity,
    })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-1' })
    expect(endpoint.requests).toHaveLength(1)
  })

  it.each([
    [undefined],
    [null],
    [{}],
    [{ authUrl: 'https://auth.example.com', clientId: 'a', clientSecret: 'b' }],
  ])('do not stand where the source belongs: %j', (source) => {
    expect(() => createTokenProvider(source as never)).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: expect.stringContaining('clientCredentials') as string,
      }),
    )
  })

  it('are the pool’s as well, which says so before the first key', () => {
    const pool = () => createTokenPool(() => sourceOf(new ScriptedEndpoint()), { timeoutMs: -1 })
    expect(pool).toThrow(expect.objectContaining({ kind: 'configuration' }))
  })

  it('are never changed', () => {
    const options: TokenProviderOptions = Object.freeze({ timeoutMs: 5_000 })
    expect(make(options)).not.toThrow()
  })
})
