import { ClientCredentials, type AccessToken } from 'simple-oauth2'
import type { Peer } from './peer.ts'

const expirationWindowSeconds = 300

/** As its README does it: the application keeps the token, and checks whether it is about to expire. */
export const simpleOauth2: Peer = {
  name: 'simple-oauth2',
  packages: ['simple-oauth2'],
  imports: `export { ClientCredentials } from 'simple-oauth2'`,
  open({ tokenEndpoint, clientId, clientSecret }) {
    const { origin, pathname } = new URL(tokenEndpoint)
    const client = new ClientCredentials({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: origin, tokenPath: pathname },
      options: { authorizationMethod: 'body' },
    })
    let accessToken: AccessToken | undefined
    return {
      async getToken() {
        if (!accessToken || accessToken.expired(expirationWindowSeconds))
          accessToken = await client.getToken({})
        return accessToken.token['access_token'] as string
      },
    }
  },
}
