import { describe, expect, it } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenPool,
  createTokenProvider,
  type TokenProviderOptions,
} from '@tokenwell/core'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

const make = (options: object) => () => createTokenProvider(sourceOf(new ScriptedEndpoint()), options)

describe('the options of a provider', () => {
  it.each([
    'refreshAheadMs',
    'expiryMarginMs',
    'defaultLifetimeMs',
    'timeoutMs',
    'attemptTimeoutMs',
    'maxAttempts',
  ])('are rejected with an invalid %s, which the error names', (name) => {
    for (const value of [Number.NaN, -1, '1000', null, {}]) {
      const expected = {
        name: 'TokenError',
        kind: 'configuration',
        message: expect.stringContaining(name) as string,
      }
      expect(make({ [name]: value })).toThrow(expect.objectContaining(expected))
    }
  })

  it.each(['defaultLifetimeMs', 'timeoutMs', 'attemptTimeoutMs', 'maxAttempts'])(
    'are rejected with zero for %s',
    (name) => {
      expect(make({ [name]: 0 })).toThrow(expect.objectContaining({ kind: 'configuration' }))
    },
  )

  it('are rejected with a store that cannot share tokens', () => {
    const { sharing, ...store } = createMemoryTokenStore()
    expect(make({ store })).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: 'store has no `sharing`. Add `sharing: tokenSharing` from @tokenwell/core/adapter.',
      }),
    )
    expect(make({ store: { ...store, sharing } })).not.toThrow()
  })

  it('that are undefined count as omitted', async () => {
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
  ])('are rejected in place of a source: %j', (source) => {
    expect(() => createTokenProvider(source as never)).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: expect.stringContaining('clientCredentials') as string,
      }),
    )
  })

  it('are checked by a pool before its first key', () => {
    const pool = () =>
      createTokenPool(() => createTokenProvider(sourceOf(new ScriptedEndpoint())), { timeoutMs: -1 })
    expect(pool).toThrow(expect.objectContaining({ kind: 'configuration' }))
  })

  it('are never changed', () => {
    const options: TokenProviderOptions = Object.freeze({ timeoutMs: 5_000 })
    expect(make(options)).not.toThrow()
  })
})
