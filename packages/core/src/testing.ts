import { changeTokenError, type TokenError } from './protocol/token-error.ts'
import { createTokenProvider } from './provider/caching-token-provider.ts'
import type { TokenProvider } from './provider/token-provider.ts'
import { systemClock } from './runtime/clock.ts'

export { createFakeClock, type FakeClock } from './runtime/fake-clock.ts'
export {
  tokenStoreTests,
  type TokenStoreTest,
  type TokenStoreTestOptions,
} from './sharing/token-store-tests.ts'

/** Options of {@link createTestTokenProvider}. */
export interface TestTokenProviderOptions {
  /**
   * Values of the tokens, one for each token request; the last one is repeated, with a number if it was rejected: `test-token`,
   * `test-token-2`.
   *
   * @default ['test-token']
   */
  readonly tokens?: readonly string[] | undefined
  /** Lifetime of each token, in milliseconds. @default 3_600_000 */
  readonly lifetimeMs?: number | undefined
  /** The initial value of {@link TestTokenProvider.error}. @default no error */
  readonly error?: TokenError | undefined
}

/** A token provider for tests. */
export interface TestTokenProvider extends TokenProvider {
  /** The number of token requests. */
  readonly requests: number
  /** While it is set, every token request fails with this error, at once: without retries and cooldown. */
  error: TokenError | undefined
  /** Moves the provider's clock past the expiry of its token. */
  expire(): void
  /** Starts again as created: no cached token, no request counted, the first of `tokens`, the initial `error`. */
  reset(): void
}

/**
 * Creates a token provider that needs no token endpoint, for tests of code that uses one. It behaves as every
 * provider does, but sends nothing.
 *
 * @example
 * const tokens = createTestTokenProvider({ tokens: ['first', 'second'] })
 * await tokens.getToken() // { value: 'first', … }
 * tokens.expire()
 * await tokens.getToken() // { value: 'second', … }
 * tokens.error = new TokenError({ kind: 'unavailable', message: 'The token endpoint is down.' })
 */
export function createTestTokenProvider({
  tokens = ['test-token'],
  lifetimeMs = 3_600_000,
  error,
}: TestTokenProviderOptions = {}): TestTokenProvider {
  let aheadMs = 0
  const rejected = new Set<string>()
  const clock = {
    now: () => systemClock.now() + aheadMs,
    monotonic: () => systemClock.monotonic() + aheadMs,
  }
  const provider = createTokenProvider(
    {
      cacheKey: async () => 'test',
      requestToken: async ({ rejectedToken }) => {
        if (rejectedToken !== undefined) rejected.add(rejectedToken)
        const value = tokens[Math.min(state.requests++, tokens.length - 1)]!
        if (state.error) throw changeTokenError(state.error, {})
        let accessToken = value
        for (let count = 2; rejected.has(accessToken); count++) accessToken = `${value}-${count}`
        return { accessToken, tokenType: 'Bearer', expiresIn: lifetimeMs / 1000, scope: [] }
      },
      revokeToken: async () => {},
      // No cooldown.
      credentialsChanged: async () => true,
    },
    { clock, maxAttempts: 1 },
  )
  const resetProvider = provider.reset.bind(provider)
  const state = Object.assign(provider, {
    requests: 0,
    error,
    expire: () => {
      aheadMs += lifetimeMs
    },
    reset: () => {
      resetProvider()
      rejected.clear()
      state.requests = 0
      state.error = error
    },
  })
  return state
}
