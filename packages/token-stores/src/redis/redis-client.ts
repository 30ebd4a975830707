interface ScriptOptions {
  keys: string[]
  arguments: string[]
}

/**
 * The part of a client of the `redis` package, version 5 or 6, that the store uses: `createClient()`,
 * `createClientPool()`, `createCluster()` and `createSentinel()` return one.
 */
export interface NodeRedisClient {
  readonly isOpen: boolean
  /** Missing in a pool and in a cluster client of `redis` 5, which count as ready while open. */
  readonly isReady?: boolean
  eval(script: string, options: ScriptOptions): Promise<unknown>
  evalSha(sha1: string, options: ScriptOptions): Promise<unknown>
}

/** The part of a client of the `ioredis` package, version 5 or 6, that the store uses: `Redis` or `Cluster`. */
export interface IoRedisClient {
  readonly status: string
  /** Called for a client with `lazyConnect`, which waits for its first command. */
  connect?(): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
}

/** A client of the `redis` or the `ioredis` package. */
export type RedisTokenStoreClient = NodeRedisClient | IoRedisClient

type SendScript = (script: string, keys: string[], args: string[]) => Promise<unknown>

/** Sends a script, by its source or its digest, through either kind of client. */
export interface ScriptSender {
  readonly isReady: () => boolean
  /** Whether it is not ready yet, but about to be. */
  readonly isConnecting: () => boolean
  /** Connects a client that waits for its first command. @returns whether it did */
  readonly wake: () => boolean
  readonly sendSource: SendScript
  readonly sendSha1: SendScript
}

/** @returns undefined if the value is not a client of either package */
export function createScriptSender(client: RedisTokenStoreClient): ScriptSender | undefined {
  if (isNodeRedis(client)) {
    return {
      isReady: () => client.isReady ?? client.isOpen,
      isConnecting: () => client.isOpen,
      wake: () => false,
      sendSource: (source, keys, args) => client.eval(source, { keys, arguments: args }),
      sendSha1: (sha1, keys, args) => client.evalSha(sha1, { keys, arguments: args }),
    }
  }
  if (!isIoRedis(client)) return undefined
  return {
    isReady: () => client.status === 'ready',
    isConnecting: () => client.status.startsWith('connect'),
    wake() {
      if (client.status !== 'wait' || client.connect === undefined) return false
      // A failure is reported by the client's own event, and by the command that waits.
      client.connect().catch(() => {})
      return true
    },
    sendSource: (source, keys, args) => client.eval(source, keys.length, ...keys, ...args),
    sendSha1: (sha1, keys, args) => client.evalsha(sha1, keys.length, ...keys, ...args),
  }
}

function isNodeRedis(client: Partial<RedisTokenStoreClient>): client is NodeRedisClient {
  const { evalSha } = (client ?? {}) as Partial<NodeRedisClient>
  return typeof evalSha === 'function'
}

function isIoRedis(client: Partial<IoRedisClient>): client is IoRedisClient {
  return typeof client?.evalsha === 'function' && typeof client.status === 'string'
}
