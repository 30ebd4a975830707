import { setTimeout } from 'node:timers/promises'
import type { TokenStore } from '@tokenwell/core'
import { configurationError, notifyListener } from '@tokenwell/core/protocol'
import { tokenSharing, type TokenLease } from '@tokenwell/core/adapter'
import {
  createEntryFormat,
  type Entry,
  type EntryContents,
  type EntryKind,
  type FoundEntries,
} from '../format/entry-format.ts'
import {
  createScriptRunner,
  createScriptSender,
  isLost,
  readText,
  readTime,
  type RedisTokenStoreClient,
  type RunScript,
  type ScriptSender,
} from './redis-client.ts'
import { extendScript, leaseScript, readScript, removeScript, writeScript } from './token-scripts.ts'

/** An entry that was ignored, because it was changed or written by another program. */
export interface EntryUnreadableEvent {
  readonly type: 'entry_unreadable'
  /** The hash that holds the entry. */
  readonly redisKey: string
  readonly field: 'token' | 'cooldown'
}

/** Options of the Redis token store. */
export interface RedisTokenStoreOptions {
  /**
   * A client of the `redis` or the `ioredis` package: standalone, Sentinel or Cluster. You connect and close it; the
   * store does not.
   */
  readonly client: RedisTokenStoreClient
  /** Prefix of all Redis keys. @default 'tokenwell:' */
  readonly keyPrefix?: string | undefined
  /**
   * Keys of 32 bytes, as a `Uint8Array` or in base64. Entries are encrypted with the first one and decrypted with any of them.
   * Without keys, tokens are stored as plain text. @default none
   */
  readonly encryptionKeys?: readonly (string | Uint8Array)[] | undefined
  /** Called for each entry that cannot be read. */
  readonly onEvent?: ((event: EntryUnreadableEvent) => void) | undefined
}

/**
 * Creates a token store in Redis or Valkey: all processes that use it share one token and one token request.
 *
 * @example
 * const store = createRedisTokenStore({ client, encryptionKeys: [process.env.TOKEN_KEY] })
 * const tokens = clientCredentials({ ...credentialsFrom(process.env), store })
 *
 * @throws {TokenError} of kind `configuration`, naming the invalid option
 */
export function createRedisTokenStore(options: RedisTokenStoreOptions): TokenStore {
  const { client, keyPrefix = 'tokenwell:', encryptionKeys, onEvent } = options
  const sender = checkOptions(client, keyPrefix)
  const format = createEntryFormat({
    store: 'redis store',
    encryptionKeys,
    onUnreadable: (name, field) => {
      void notifyListener(onEvent, { type: 'entry_unreadable', redisKey: keyPrefix + name, field })
    },
  })
  const run = createScriptRunner(sender)
  const redisKeys = (cacheKey: string): string[] => format.names(cacheKey).map((name) => keyPrefix + name)

  async function find(redisKey: string): Promise<FoundEntries> {
    const reply = await run(readScript, [redisKey])
    const [time, token, cooldown] = Array.isArray(reply) ? (reply as unknown[]) : []
    return { now: readTime(time), token: readText(token), cooldown: readText(cooldown) }
  }

  return {
    sharing: tokenSharing,
    read: async (cacheKey) => format.read(cacheKey, await Promise.all(redisKeys(cacheKey).map(find))),
    async remove(cacheKey, id) {
      const keys = redisKeys(cacheKey)
      await Promise.all(keys.map((redisKey) => run(removeScript, [redisKey], [`${id}.`])))
    },
    async lease(cacheKey, ttlMs, slot) {
      const [redisKey] = redisKeys(cacheKey)
      const encode: EncodeEntry = (kind, entry) => format.encode(cacheKey, kind, entry)
      return takeLease(run, redisKey!, encode, slot ?? 'lease', ttlMs)
    },
  }
}

function checkOptions(client: RedisTokenStoreClient, keyPrefix: unknown): ScriptSender {
  const sender = createScriptSender(client)
  if (sender === undefined) {
    throw configurationError(
      'client must be a client of the redis or ioredis package, such as createClient({ url }) or new Redis(url).',
    )
  }
  if (typeof keyPrefix !== 'string') throw configurationError('keyPrefix must be a string.')
  return sender
}

/** Pause between attempts to repeat a command whose reply was lost with the connection. */
const repeatMs = 100

/** Encodes an entry of the leased key. */
type EncodeEntry = <Kind extends EntryKind>(kind: Kind, entry: Entry<Kind>) => string

/** Takes the lease, if it is free. The holder's ID distinguishes it from later holders. */
async function takeLease(
  run: RunScript,
  redisKey: string,
  encode: EncodeEntry,
  slot: 'lease' | 'fallback',
  ttlMs: number,
): Promise<TokenLease | undefined> {
  const keys = [redisKey]
  const holder = [slot, crypto.randomUUID()] as const
  let leaseEndsAt = performance.now() + ttlMs
  /** A write that did not reach Redis. */
  let unwritten: (() => Promise<unknown>) | undefined

  async function release(): Promise<void> {
    await unwritten?.()
    await run(extendScript, keys, [...holder, 0])
  }

  /** Completes the write and frees the lease once Redis is back: other processes would wait until the lease expires. */
  async function releaseLater(): Promise<void> {
    while (performance.now() < leaseEndsAt) {
      await setTimeout(repeatMs, undefined, { ref: false })
      try {
        return await release()
      } catch (error) {
        if (!isLost(error)) return
      }
    }
  }

  async function writeEntry<Kind extends EntryKind>(
    kind: Kind,
    content: EntryContents[Kind],
    expiresAt: number,
  ) {
    const id = crypto.randomUUID()
    const entry = encode(kind, { id, expiresAt, content })
    const write = async () =>
      Number(await run(writeScript, keys, [...holder, leasedAt, kind, entry, expiresAt]))
    unwritten = write
    const written = await write()
    unwritten = undefined
    return written === 1 ? id : undefined
  }

  const reply = await run(leaseScript, keys, [...holder, Math.ceil(ttlMs)]).catch((error: unknown) => {
    if (isLost(error)) void releaseLater()
    throw error
  })
  if (reply === null) return undefined
  // By the clock of Redis, because the clocks of other machines may differ.
  const leasedAt = readTime(reply)
  const repliedAt = performance.now()

  return {
    write: (response, lifetimeMs) => writeEntry('token', response, leasedAt + Math.floor(lifetimeMs)),
    async writeCooldown(error, ms) {
      const sinceMs = performance.now() - repliedAt
      await writeEntry('cooldown', error, leasedAt + Math.floor(sinceMs + ms))
    },
    async extend(ms) {
      const isExtended = Number(await run(extendScript, keys, [...holder, Math.ceil(ms)])) === 1
      if (isExtended) leaseEndsAt = performance.now() + ms
      return isExtended
    },
    async release() {
      try {
        await release()
      } catch (error) {
        if (isLost(error)) void releaseLater()
        throw error
      }
    },
  }
}
