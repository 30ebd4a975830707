import { clientCredentials } from '@tokenwell/core'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { createClient } from 'redis'
import type { Peer } from './peer.ts'

export const tokenwellRedis: Peer = {
  name: '@tokenwell/token-stores/redis',
  packages: ['@tokenwell/core', '@tokenwell/token-stores'],
  beside: ['redis'],
  imports: `export { clientCredentials } from '@tokenwell/core'
export { createRedisTokenStore } from '@tokenwell/token-stores/redis'`,
  async open({ redisUrl, ...endpoint }) {
    const client = createClient({ url: redisUrl! })
    await client.connect()
    const store = createRedisTokenStore({ client, encryptionKeys: [new Uint8Array(32)] })
    const tokens = clientCredentials({ ...endpoint, store })
    return { getToken: async () => (await tokens.getToken()).value }
  },
}
