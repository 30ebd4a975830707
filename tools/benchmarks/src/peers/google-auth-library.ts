import { gaxios, OAuth2Client } from 'google-auth-library'
import { fetchToken } from './closure.ts'
import type { Peer } from './peer.ts'

/** A client with a refresh handler, which is its way to get tokens from other issuers than Google. */
export const googleAuthLibrary: Peer = {
  name: 'google-auth-library',
  packages: ['google-auth-library'],
  httpClient: 'gaxios',
  imports: `export { OAuth2Client } from 'google-auth-library'`,
  openPlain() {
    const plain = new gaxios.Gaxios({ fetchImplementation: fetch })
    return (url) => plain.request({ url })
  },
  open(endpoint) {
    const transporterOptions = { fetchImplementation: fetch }
    const client = new OAuth2Client({ transporterOptions, forceRefreshOnFailure: true })
    client.refreshHandler = async () => {
      const { access_token, expires_in } = await fetchToken(endpoint)
      return { access_token, expiry_date: Date.now() + expires_in * 1000 }
    }
    return {
      getToken: async () => (await client.getAccessToken()).token ?? '',
      callApi: async (url) => (await client.request({ url })).status,
    }
  },
}
