import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'
import type { Peer } from './peer.ts'

/** Its fetch wrapper, which caches the token, refreshes it, and repeats a request after a 401. */
export const badgatewayOauth2Client: Peer = {
  name: '@badgateway/oauth2-client',
  packages: ['@badgateway/oauth2-client'],
  httpClient: 'fetch',
  imports: `export { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'`,
  openPlain: () => (url) => fetch(url),
  open({ tokenEndpoint, clientId, clientSecret }) {
    const client = new OAuth2Client({
      server: new URL(tokenEndpoint).origin,
      tokenEndpoint: tokenEndpoint,
      clientId,
      clientSecret,
      authenticationMethod: 'client_secret_post',
    })
    const wrapper = new OAuth2Fetch({ client, getNewToken: () => client.clientCredentials() })
    return {
      getToken: () => wrapper.getAccessToken(),
      callApi: async (url) => (await wrapper.fetch(url)).status,
    }
  },
}
