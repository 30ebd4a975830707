import axios from 'axios'
import { createAuthRefresh } from 'axios-auth-refresh'
import { apiPath } from '../api.ts'
import { axiosClient } from './axios-client.ts'
import type { Peer } from './peer.ts'

/** It refreshes after a 401, and leaves the token and its header to the application's own interceptor. */
export const axiosAuthRefresh: Peer = {
  name: 'axios-auth-refresh',
  packages: ['axios-auth-refresh'],
  beside: ['axios'],
  httpClient: 'axios',
  imports: `export { createAuthRefresh } from 'axios-auth-refresh'`,
  openPlain() {
    const plain = axiosClient()
    return () => plain.get(apiPath)
  },
  open({ tokenEndpoint, clientId, clientSecret }) {
    const instance = axiosClient()
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    })
    let accessToken = ''
    // Its types are those of axios's CommonJS build.
    createAuthRefresh(
      instance as never,
      async (failed: { response: { config: AxiosConfig } }) => {
        const { data } = await axios.post<{ access_token: string }>(tokenEndpoint, form)
        accessToken = data.access_token
        failed.response.config.headers['Authorization'] = `Bearer ${accessToken}`
      },
      { deduplicateRefresh: false },
    )
    instance.interceptors.request.use((request) => {
      request.headers['Authorization'] = `Bearer ${accessToken}`
      return request
    })
    return {
      callApi: async () => (await instance.get(apiPath)).status,
    }
  },
}

interface AxiosConfig {
  readonly headers: Record<string, string>
}
