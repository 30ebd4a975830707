import type { AxiosInstance } from 'axios'
import tokenProvider from 'axios-token-interceptor'

/** As its README recommends: a cache in front of the function that gets the token. */
export function attachWithTokenInterceptor(instance: AxiosInstance): void {
  const getToken = (): Promise<{ access_token: string; expires_in: number }> =>
    Promise.resolve({ access_token: 'a'.repeat(32), expires_in: 3600 })
  const cache = tokenProvider.tokenCache(() => getToken().then((response) => response.access_token), {
    maxAge: 3_600_000,
  })
  instance.interceptors.request.use(tokenProvider({ getToken: cache }))
}
