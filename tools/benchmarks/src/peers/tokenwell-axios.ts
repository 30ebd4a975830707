import { attachTokens } from '@tokenwell/axios-interceptor'
import { clientCredentials } from '@tokenwell/core'
import { apiPath } from '../api.ts'
import { axiosClient } from './axios-client.ts'
import type { Peer } from './peer.ts'

export const tokenwellAxios: Peer = {
  name: '@tokenwell/axios-interceptor',
  packages: ['@tokenwell/core', '@tokenwell/axios-interceptor'],
  beside: ['axios'],
  httpClient: 'axios',
  imports: `export { clientCredentials } from '@tokenwell/core'
export { attachTokens } from '@tokenwell/axios-interceptor'`,
  openPlain() {
    const plain = axiosClient()
    return () => plain.get(apiPath)
  },
  open(endpoint) {
    const instance = axiosClient()
    attachTokens(instance, clientCredentials(endpoint))
    return {
      callApi: async () => (await instance.get(apiPath)).status,
    }
  },
}
