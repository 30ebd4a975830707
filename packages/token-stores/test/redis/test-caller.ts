import { createClient } from 'redis'
import {
  clientCredentials,
  type TokenEvent,
  type TokenProvider,
  type TokenProviderOptions,
} from '@tokenwell/core'
import {
  createRedisTokenStore,
  type RedisTokenStoreOptions,
  type NodeRedisClient,
} from '@tokenwell/token-stores/redis'
import type { TokenEndpoint } from './token-endpoint.ts'

/** A token provider with a Redis store, as in an application. */
export interface Caller extends AsyncDisposable {
  readonly client: ReturnType<typeof openClient>
  readonly tokens: TokenProvider
  readonly scope: string
  readonly events: TokenEvent[]
  /** Failures of the store, such as `lease READONLY`. */
  readonly storeFailures: () => string[]
  /** Advances the provider's clock, for example until it uses a failed store again. */
  passTime(ms: number): void
}

const openClient = (url: string) => createClient({ url })

/** @param redisUrl if Redis is unavailable, the client connects in the background */
export async function openCaller(
  redisUrl: string,
  endpoint: TokenEndpoint,
  options: Partial<RedisTokenStoreOptions> &
    TokenProviderOptions & { readonly scope?: string | undefined } = {},
): Promise<Caller> {
  const { scope = 'default', ...others } = options
  const client = openClient(redisUrl)
  await new Promise((resolve) => {
    client.on('error', resolve).once('ready', resolve)
    client.connect().catch(() => {})
  })
  const events: TokenEvent[] = []
  let passedMs = 0
  const tokens = clientCredentials({
    tokenEndpoint: endpoint.tokenEndpoint,
    clientId: 'one',
    clientSecret: 'secret',
    scope,
    clock: { now: () => Date.now() + passedMs, monotonic: () => performance.now() + passedMs },
    ...others,
    store: createRedisTokenStore({ client, ...others }),
    onEvent: (event) => events.push(event),
  })
  return {
    client,
    tokens,
    scope,
    events,
    storeFailures: () =>
      events.flatMap((event) =>
        event.type === 'store_unavailable' ? `${event.operation} ${event.cause}` : [],
      ),
    passTime: (ms) => void (passedMs += ms),
    async [Symbol.asyncDispose]() {
      await tokens.close()
      client.destroy()
    },
  }
}

/** A client that records its calls: one entry is one round trip. */
export function recordingClient(client: NodeRedisClient) {
  const trips: { readonly command: 'eval' | 'evalSha'; readonly keys: readonly string[] }[] = []
  const recorded: NodeRedisClient = {
    get isOpen() {
      return client.isOpen
    },
    eval(script, options) {
      trips.push({ command: 'eval', keys: options.keys })
      return client.eval(script, options)
    },
    evalSha(sha1, options) {
      trips.push({ command: 'evalSha', keys: options.keys })
      return client.evalSha(sha1, options)
    },
  }
  return { client: recorded, trips }
}
