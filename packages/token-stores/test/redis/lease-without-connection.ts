// Requests a lease of an hour, and loses the connection before the reply.
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'

const fails = () => Promise.reject(new Error('Socket closed unexpectedly'))
const store = createRedisTokenStore({ client: { isOpen: true, eval: fails, evalSha: fails } })
await store.lease('key', 3_600_000).catch(() => {})
process.disconnect()
