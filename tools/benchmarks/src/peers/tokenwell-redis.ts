import { clientCredentials, createTokenProvider } from '@tokenwell/core'
import { createRedisTokenStore } from '@tokenwell/redis-token-store'
import { createClient } from 'redis'
import type { Peer } from './peer.ts'

export const tokenwellRedis: Peer = {
  name: '@tokenwell/redis-token-store',
  packages: ['@tokenwell/core', '@tokenwell/redis-token-store'],
  beside: ['redis'],
  imports: `export { clientCredentials, createTokenProvider } from '@tokenwell/core'
export { createRedisTokenStore } from '@tokenwell/redis-token-store'`,
  async open({ redisUrl, ...endpoint }) {
    const client = createClient({ url: redisUrl! })
    await client.connect()
    const store = createRedisTokenStore({ client, encryptionKeys: [new Uint8Array(32)] })
    const tokens = createTokenProvider(clientCredentials(endpoint), { store })
    return { getToken: async () => (await tokens.getToken()).value }
  },
}
