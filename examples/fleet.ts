// Processes share one token through Redis, and one of them refreshes it.
import { setTimeout } from 'node:timers/promises'
import { clientCredentials, credentialsFrom } from '@tokenwell/core'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { createClient } from 'redis'

if (!process.env.REDIS_URL)
  throw new Error('REDIS_URL is missing. Set it, or install redis-server.')

const client = createClient({ url: process.env.REDIS_URL })
client.on('error', (error: Error) => console.warn(error.message))
// At most two seconds: alone, connect() waits for as long as Redis is down.
await Promise.race([client.connect(), setTimeout(2_000, undefined, { ref: false })])

// `openssl rand -base64 32` prints a key. All processes use the same one.
const encryptionKeys = [
  process.env.TOKEN_KEY ?? btoa('a key for an example: 32 bytes !'),
]
const store = createRedisTokenStore({ client, encryptionKeys })

// Three providers in one process stand for three processes.
const processes = [1, 2, 3].map((number) =>
  clientCredentials({
    ...credentialsFrom(process.env),
    store,
    onEvent: (event) => {
      if (event.type === 'token_received')
        console.log(`Process ${number} got a token from the ${event.from}`)
      if (event.type === 'store_unavailable') console.warn(`Redis: ${event.cause}`)
    },
  }),
)

const values = await Promise.all(
  processes.map(async (tokens) => (await tokens.getToken()).value),
)
console.log(new Set(values).size === 1 ? 'All have the same token' : 'They differ')

await Promise.all(processes.map((tokens) => tokens.close()))
await client.close()
