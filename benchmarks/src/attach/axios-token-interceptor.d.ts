declare module 'axios-token-interceptor' {
  import type { InternalAxiosRequestConfig } from 'axios'

  type GetToken = () => Promise<string>
  interface TokenProvider {
    (options: {
      getToken: GetToken
    }): (config: InternalAxiosRequestConfig) => Promise<InternalAxiosRequestConfig>
    tokenCache(getToken: GetToken, options: { maxAge: number }): GetToken
  }
  const tokenProvider: TokenProvider
  export default tokenProvider
}
