import * as oauth from 'oauth4webapi'
import type { Peer } from './peer.ts'

/** Requests tokens and leaves caching to the application. */
export const oauth4webapi: Peer = {
  name: 'oauth4webapi',
  packages: ['oauth4webapi'],
  httpClient: 'fetch',
  imports: `export { ClientSecretPost, clientCredentialsGrantRequest, processClientCredentialsResponse, protectedResourceRequest } from 'oauth4webapi'`,
  openPlain: () => (url) => fetch(url),
  open({ tokenEndpoint, clientId, clientSecret }) {
    const server: oauth.AuthorizationServer = {
      issuer: new URL(tokenEndpoint).origin,
      token_endpoint: tokenEndpoint,
    }
    const client: oauth.Client = { client_id: clientId }
    const authentication = oauth.ClientSecretPost(clientSecret)
    // The benchmark's endpoint is plain HTTP on loopback.
    const options = { [oauth.allowInsecureRequests]: true }
    const requestToken = async (): Promise<string> => {
      const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, {}, options)
      return (await oauth.processClientCredentialsResponse(server, client, response)).access_token
    }
    let token: Promise<string> | undefined
    return {
      requestToken,
      async callApi(url) {
        const response = await oauth.protectedResourceRequest(
          await (token ??= requestToken()),
          'GET',
          new URL(url),
        )
        return response.status
      },
    }
  },
}
