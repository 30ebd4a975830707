declare module 'axios-token-interceptor' {
  import type { InternalAxiosRequestConfig } from 'axios'

  interface Answer {
    readonly access_token: string
    readonly expires_in: number
  }
  type GetToken = () => Promise<Answer>
  interface TokenProvider {
    (options: {
      getToken: GetToken
      headerFormatter: (answer: Answer) => string
    }): (config: InternalAxiosRequestConfig) => Promise<InternalAxiosRequestConfig>
    tokenCache(getToken: GetToken, options: { getMaxAge: (answer: Answer) => number }): GetToken
  }
  const tokenProvider: TokenProvider
  export default tokenProvider
}
