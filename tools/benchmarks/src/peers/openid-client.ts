import * as client from 'openid-client'
import type { Peer } from './peer.ts'

/** Requests tokens and leaves caching to the application. */
export const openidClient: Peer = {
  name: 'openid-client',
  packages: ['openid-client'],
  httpClient: 'fetch',
  imports: `export { clientCredentialsGrant, Configuration, fetchProtectedResource } from 'openid-client'`,
  openPlain: () => (url) => fetch(url),
  open({ tokenEndpoint, clientId, clientSecret }) {
    const server = { issuer: new URL(tokenEndpoint).origin, token_endpoint: tokenEndpoint }
    const config = new client.Configuration(server, clientId, clientSecret)
    // The benchmark's endpoint is plain HTTP on loopback.
    client.allowInsecureRequests(config)
    const requestToken = async (): Promise<string> =>
      (await client.clientCredentialsGrant(config)).access_token
    let token: Promise<string> | undefined
    return {
      requestToken,
      async callApi(url) {
        const response = await client.fetchProtectedResource(
          config,
          await (token ??= requestToken()),
          new URL(url),
          'GET',
        )
        return response.status
      },
    }
  },
}
