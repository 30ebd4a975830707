// The package has no types. The page about migrating from it needs these.
declare module 'axios-token-interceptor' {
  import type { InternalAxiosRequestConfig } from 'axios'

  interface TokenProvider {
    <Token>(options: {
      getToken: () => Promise<Token>
      headerFormatter?: (token: Token) => string
    }): (config: InternalAxiosRequestConfig) => Promise<InternalAxiosRequestConfig>
    tokenCache<Token>(
      getToken: () => Promise<Token>,
      options: { getMaxAge: (token: Token) => number },
    ): () => Promise<Token>
  }
  const tokenProvider: TokenProvider
  export default tokenProvider
}

// The parts of the Workers runtime that the documentation uses.
declare module 'cloudflare:workers' {
  export const env: Readonly<Record<string, string>>
  export function waitUntil(work: Promise<unknown>): void
}
