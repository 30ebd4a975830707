import { createTokenVerifier, type TokenVerifier } from './verifier/token-verifier.ts'
import type { TokenVerifierOptions } from './verifier/token-verifier-options.ts'

/** What a test's token covers. */
export interface TestTokenOptions {
  /** @default 'test-client' */
  readonly clientId?: string | undefined
  readonly products?: readonly string[] | undefined
  readonly scopes?: readonly string[] | undefined
  /** Negative for a token that has expired. @default 3_600 */
  readonly expiresInSeconds?: number | undefined
  /** Further members of the introspection response. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/** A verifier that knows the tokens of a test, and no others. */
export interface TestVerifier {
  readonly verifier: TokenVerifier
  readonly createTestToken: (options?: TestTokenOptions) => string
  /** Makes the token invalid. */
  readonly revoke: (token: string) => void
}

/**
 * Creates a verifier for tests of an API: it works as in production, except that the authorization server is in memory.
 *
 * @example
 * const { verifier, createTestToken } = createTestVerifier()
 * const headers = { authorization: `Bearer ${createTestToken({ products: ['orders'] })}` }
 */
export function createTestVerifier(
  options: Pick<TokenVerifierOptions, 'realm' | 'errors' | 'dpop' | 'publicUrl' | 'onEvent' | 'clock'> = {},
): TestVerifier {
  const tokens = new Map<string, Readonly<Record<string, unknown>>>()
  const verifier = createTokenVerifier({
    ...options,
    introspection: { authUrl: 'http://localhost', clientId: 'test', clientSecret: 'test', cacheMs: 0 },
    fetch: async (_url, init) => {
      const token = new URLSearchParams(init?.body as URLSearchParams).get('token') ?? ''
      return Response.json(tokens.get(token) ?? { active: false })
    },
  })
  return {
    verifier,
    createTestToken({
      clientId = 'test-client',
      products = [],
      scopes = [],
      expiresInSeconds = 3_600,
      claims,
    } = {}) {
      const token = `test-${crypto.randomUUID()}`
      const now = options.clock?.now() ?? Date.now()
      tokens.set(token, {
        active: true,
        client_id: clientId,
        scope: scopes.join(' '),
        api_products: products,
        exp: now / 1000 + expiresInSeconds,
        ...claims,
      })
      return token
    },
    revoke: (token) => void tokens.delete(token),
  }
}
