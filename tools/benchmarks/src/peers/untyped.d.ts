declare module 'axios-token-interceptor' {
  import type { InternalAxiosRequestConfig } from 'axios'

  interface TokenResponse {
    readonly access_token: string
    readonly expires_in: number
  }
  type GetToken = () => Promise<TokenResponse>
  interface TokenProvider {
    (options: {
      getToken: GetToken
      headerFormatter: (response: TokenResponse) => string
    }): (config: InternalAxiosRequestConfig) => Promise<InternalAxiosRequestConfig>
    tokenCache(getToken: GetToken, options: { getMaxAge: (response: TokenResponse) => number }): GetToken
  }
  const tokenProvider: TokenProvider
  export default tokenProvider
}
