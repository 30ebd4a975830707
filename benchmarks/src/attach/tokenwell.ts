import { createTokenProvider, type TokenProvider } from '@tokenwell/core'

/** A provider whose token is at hand. */
export async function warmTokens(): Promise<TokenProvider> {
  const tokens = createTokenProvider({
    cacheKey: () => Promise.resolve('benchmark'),
    requestToken: () =>
      Promise.resolve({ accessToken: 'a'.repeat(32), tokenType: 'Bearer', expiresIn: 3600, scope: [] }),
  })
  await tokens.getToken()
  return tokens
}
