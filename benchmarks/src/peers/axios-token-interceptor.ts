import { create } from 'axios'
import { clientCredentials } from 'axios-oauth-client'
import tokenProvider from 'axios-token-interceptor'
import { apiPath } from '../api.ts'
import { axiosClient } from './axios-client.ts'
import type { Peer } from './peer.ts'

/** The first gets tokens, the second keeps and attaches them; each as its README says. */
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
  open({ tokenUrl, clientId, clientSecret }) {
    const askToken = clientCredentials(create(), tokenUrl, clientId, clientSecret)
    const cache = tokenProvider.tokenCache(() => askToken(''), {
      getMaxAge: (answer) => answer.expires_in * 1000,
    })
    const instance = axiosClient()
    instance.interceptors.request.use(
      tokenProvider({ getToken: cache, headerFormatter: (answer) => `Bearer ${answer.access_token}` }),
    )
    return {
      getToken: async () => (await cache()).access_token,
      callApi: async () => (await instance.get(apiPath)).status,
    }
  },
}
