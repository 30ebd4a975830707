import { clientCredentials } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'
import { apiOrigin, apiPath } from '../api.ts'
import type { Peer } from './peer.ts'

export const tokenwellKy: Peer = {
  name: '@tokenwell/ky-hook',
  packages: ['@tokenwell/core', '@tokenwell/ky-hook'],
  beside: ['ky'],
  httpClient: 'ky',
  imports: `export { clientCredentials } from '@tokenwell/core'
export { tokenHooks } from '@tokenwell/ky-hook'`,
  openPlain() {
    const plain = ky.create({ prefix: apiOrigin })
    return () => plain.get(apiPath)
  },
  open(endpoint) {
    const tokens = clientCredentials(endpoint)
    const plain = ky.create({ prefix: apiOrigin })
    const api = plain.extend(tokenHooks(tokens, { allowedOrigins: [apiOrigin] }))
    return {
      callApi: async () => (await api.get(apiPath)).status,
    }
  },
}
