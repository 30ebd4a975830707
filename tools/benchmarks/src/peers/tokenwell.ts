import { clientCredentials, createTokenFetch, createTokenPool } from '@tokenwell/core'
import type { Peer } from './peer.ts'

export const tokenwell: Peer = {
  name: '@tokenwell/core',
  packages: ['@tokenwell/core'],
  httpClient: 'fetch',
  imports: `export { clientCredentials, createTokenFetch } from '@tokenwell/core'`,
  openPlain: () => (url) => fetch(url),
  open(endpoint) {
    const tokens = clientCredentials(endpoint)
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'] })
    const pool = createTokenPool(
      (tenant: number) => clientCredentials({ ...endpoint, clientId: `tenant-${tenant}` }),
      { maxEntries: Infinity },
    )
    return {
      getToken: () => tokens.getToken(),
      peekToken: () => tokens.peekToken()?.value,
      callApi: async (url) => (await apiFetch(url)).status,
      forTenant: (tenant) => pool.for(tenant),
    }
  },
}
