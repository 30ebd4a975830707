import { create } from 'axios'
import { clientCredentials } from 'axios-oauth-client'
import tokenProvider from 'axios-token-interceptor'
import { apiPath } from '../api.ts'
import { axiosClient } from './axios-client.ts'
import type { Peer } from './peer.ts'

/** The first requests tokens, the second caches and attaches them; each as in its README. */
export const axiosTokenInterceptor: Peer = {
  name: 'axios-oauth-client + axios-token-interceptor',
  packages: ['axios-oauth-client', 'axios-token-interceptor'],
  beside: ['axios'],
  httpClient: 'axios',
  imports: `export { clientCredentials } from 'axios-oauth-client'
export { default as tokenProvider } from 'axios-token-interceptor'`,
  openPlain() {
    const plain = axiosClient()
    return () => plain.get(apiPath)
  },
  open({ tokenEndpoint, clientId, clientSecret }) {
    const requestToken = clientCredentials(create(), tokenEndpoint, clientId, clientSecret)
    const cache = tokenProvider.tokenCache(() => requestToken(''), {
      getMaxAge: (response) => response.expires_in * 1000,
    })
    const instance = axiosClient()
    instance.interceptors.request.use(
      tokenProvider({ getToken: cache, headerFormatter: (response) => `Bearer ${response.access_token}` }),
    )
    return {
      getToken: async () => (await cache()).access_token,
      callApi: async () => (await instance.get(apiPath)).status,
    }
  },
}
