import { createTokenProvider } from '../provider/create-token-provider.ts'
import type { TokenProvider } from '../provider/token-provider.ts'

/** Options of {@link createTestTokenProvider}. */
export interface TestTokenProviderOptions {
  /** The value of every token. @default 'test-token' */
  readonly value?: string | undefined
}

/**
 * Creates a token provider that needs no token endpoint, for tests of code that uses one. It behaves as every
 * provider does, but sends nothing.
 *
 * @example
 * const tokens = createTestTokenProvider({ value: 'abc' })
 * await tokens.getToken() // { value: 'abc', … }
 */
export function createTestTokenProvider({
  value = 'test-token',
}: TestTokenProviderOptions = {}): TokenProvider {
  const day = 86_400
  return createTokenProvider({
    cacheKey: async () => value,
    requestToken: async () => ({ accessToken: value, tokenType: 'Bearer', expiresIn: day, scope: [] }),
  })
}
