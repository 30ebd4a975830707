import { createHash } from 'node:crypto'

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

/** How long a new client may take to connect: as long as Redis may take for a reply. */
const connectMs = 200
const pollMs = 5

/** A Lua script; Redis runs it atomically. */
export interface RedisScript {
  readonly lua: string
  readonly sha1: string
}

export function redisScript(lua: string): RedisScript {
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') }
}

export type RunScript = (script: RedisScript, keys: string[], args?: (string | number)[]) => Promise<unknown>

/**
 * Sends the source of each script once, and its digest from then on: an operation is one round trip, unless Redis does
 * not know the script, as after its restart or on another node of a cluster. Fails at once while the client is not
 * connected, except soon after it was created. A command that some clients queue nevertheless does no harm later: the token provider releases leases that
 * are granted too late, and Redis ignores what other commands write or remove too late.
 */
export function createScriptRunner(sender: ScriptSender): RunScript {
  const { isReady, isConnecting, wake, sendSource, sendSha1 } = sender
  let connectedUntil = performance.now() + connectMs

  /** Short programs get their token before the client has connected, if nothing waits for it. */
  async function connected(): Promise<void> {
    if (wake()) connectedUntil = performance.now() + connectMs
    while (!isReady()) {
      if (!isConnecting() || performance.now() > connectedUntil)
        throw storeError('not_connected', 'Redis is not connected')
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }

  /** Scripts whose source was sent: commands behind it find them on the same connection. */
  const sent = new Set<RedisScript>()
  return async (script, keys, args = []) => {
    if (!isReady()) await connected()
    const texts = args.map(String)
    const sendFirst = () => {
      sent.add(script)
      return sendSource(script.lua, keys, texts)
    }
    try {
      if (!sent.has(script)) return await sendFirst()
      return await sendSha1(script.sha1, keys, texts).catch((error: unknown) => {
        if (!errorReply(error)?.startsWith('NOSCRIPT')) throw error
        return sendFirst()
      })
    } catch (error) {
      throw failedCommand(error)
    }
  }
}

/** Reads the time in a reply: milliseconds since 1970, by the clock of Redis. */
export function readTime(reply: unknown): number {
  const time = Number(reply)
  if (time > 0) return time
  throw storeError('bad_reply', 'Redis returned an unexpected reply')
}

/** Reads a value in a reply; '' for an invalid one. Clients can be configured to return bytes instead of text. */
export function readText(reply: unknown): string | undefined {
  if (reply === null) return undefined
  return typeof reply === 'string' ? reply : reply instanceof Uint8Array ? Buffer.from(reply).toString() : ''
}

/** A failure of the store. */
interface StoreError extends Error {
  /** Appears in events, such as `READONLY`. */
  readonly code: string
  /** Set if other keys are not affected. */
  readonly scope?: 'key' | undefined
  /** Whether Redis was not reached, or may have executed the command. */
  readonly isLost: boolean
}

/** Replies that concern one key, or one hash slot of a cluster. */
const repliesForKey = /^(TRYAGAIN|MOVED|ASK|CROSSSLOT|WRONGTYPE|CLUSTERDOWN Hash slot not served)\b/
/** Redis 7.0 reports a permission that is missing inside a script without a specific code. */
const missingPermission = /\bNOPERM\b|\bThe user executing the script can't /

function storeError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, isLost: code === 'not_connected' })
}

/** @param cause an error of the client */
function failedCommand(cause: unknown): Error {
  const reply = errorReply(cause)
  const facts: Omit<StoreError, keyof Error> = {
    code: reply === undefined ? codeOf(cause) : replyCode(reply),
    scope: reply !== undefined && repliesForKey.test(reply) ? 'key' : undefined,
    isLost: reply === undefined,
  }
  return Object.assign(new Error('The Redis command failed', { cause }), facts)
}

/** Whether a command may succeed, or may even have succeeded, once Redis is connected again. */
export function isLost(error: unknown): boolean {
  return (error as Partial<StoreError>).isLost === true
}

/** The text of an error reply of Redis; undefined for an error of the client. */
function errorReply(error: unknown): string | undefined {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown }
  if (typeof code === 'string') return undefined
  // Clients report the last of too many redirections inside another error; Redis 6, the error of a command in a script.
  const text = String(message).replace(
    /^(Too many .* ReplyError|ERR Error running script .*@user_script: ?\d+): /,
    '',
  )
  if (/^[A-Z]{2,30} /.test(text)) return text
  return cause === undefined ? undefined : errorReply(cause)
}

function replyCode(reply: string): string {
  return missingPermission.test(reply) ? 'NOPERM' : reply.slice(0, reply.indexOf(' '))
}

function codeOf(error: unknown): string {
  const { code, constructor } = (error ?? {}) as { code?: unknown; constructor: { name: string } }
  return typeof code === 'string' ? code : constructor.name
}
