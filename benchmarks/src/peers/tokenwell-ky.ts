import { clientCredentials, createTokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'
import type { Peer } from './peer.ts'

export const tokenwellKy: Peer = {
  name: '@tokenwell/ky-hook',
  packages: ['@tokenwell/core', '@tokenwell/ky-hook'],
  beside: ['ky'],
  httpClient: 'ky',
  imports: `export { clientCredentials, createTokenProvider } from '@tokenwell/core'
export { tokenHooks } from '@tokenwell/ky-hook'`,
  openPlain: () => (url) => ky.get(url),
  open(endpoint) {
    const tokens = createTokenProvider(clientCredentials(endpoint))
    const api = ky.extend(tokenHooks(tokens, { allowedOrigins: ['https://api.example.com'] }))
    return {
      callApi: async (url) => (await api.get(url)).status,
    }
  },
}
