import { configurationError, tokenSharing, type TokenStore } from '@tokenwell/core'
import { createEncryptions } from './encryption-keys.ts'
import { openEntries, type EntryKind, type CacheKeyEntries } from './cache-key-entries.ts'
import type { EntryEncryption } from './entry-encryption.ts'
import { readCooldownDocument } from './cooldown-document.ts'
import { createScriptSender, type RedisTokenStoreClient, type ScriptSender } from './redis-client.ts'
import { takeLease } from './redis-lease.ts'
import { createScriptRunner, readText, readTime } from './redis-script.ts'
import { readTokenDocument } from './token-document.ts'
import { readScript, removeScript } from './token-scripts.ts'

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
   * A client of the `redis` or the `ioredis` package: standalone, Sentinel or Cluster. You connect and close it, the
   * store does not.
   */
  readonly client: RedisTokenStoreClient
  /** Prefix of all Redis keys. @default 'tokenwell:' */
  readonly keyPrefix?: string | undefined
  /**
   * Keys of 32 bytes, as bytes or in base64. Entries are encrypted with the first one and decrypted with any of them.
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
 * const tokens = createTokenProvider(source, { store })
 *
 * @throws {TokenError} of kind `configuration`, naming the invalid option
 */
export function createRedisTokenStore(options: RedisTokenStoreOptions): TokenStore {
  const { client, keyPrefix = 'tokenwell:', encryptionKeys, onEvent } = options
  const sender = checkOptions(client, keyPrefix)
  const encryptions = createEncryptions(encryptionKeys)
  const run = createScriptRunner(sender)

  /** Reads an entry and its remaining lifetime; undefined if it is missing, expired or unreadable. */
  async function readEntry<Content>(
    entries: CacheKeyEntries,
    kind: EntryKind,
    reply: unknown,
    now: number,
    parse: (text: string) => Content,
  ) {
    const value = readText(reply)
    if (value === undefined) return undefined
    try {
      const { id, expiresAt, text } = await entries.decode(kind, value)
      const content = parse(text)
      // The expiry in the entry counts, not that of the Redis key: a restored old entry may have any.
      return expiresAt > now ? { id, remainingMs: expiresAt - now, content } : undefined
    } catch {
      emit(onEvent, { type: 'entry_unreadable', redisKey: entries.redisKey, field: kind })
      return undefined
    }
  }

  async function readEntries(encryption: EntryEncryption, cacheKey: string) {
    const entries = await openEntries(encryption, keyPrefix, cacheKey)
    const reply = await run(readScript, [entries.redisKey])
    const [time, token, cooldown] = Array.isArray(reply) ? (reply as unknown[]) : []
    const now = readTime(time)
    return {
      token: await readEntry(entries, 'token', token, now, readTokenDocument),
      cooldown: await readEntry(entries, 'cooldown', cooldown, now, readCooldownDocument),
    }
  }

  return {
    sharing: tokenSharing,
    async read(cacheKey) {
      // With older encryption keys too, during a key rotation. Leases and cooldowns use the first key only.
      const found = await Promise.all(encryptions.map((encryption) => readEntries(encryption, cacheKey)))
      const [token] = found
        .flatMap((entries) => entries.token ?? [])
        .sort((a, b) => b.remainingMs - a.remainingMs)
      const { cooldown } = found[0]!
      const stored = cooldown && { cooldownMs: cooldown.remainingMs, error: cooldown.content }
      return token
        ? { id: token.id, response: token.content, remainingMs: token.remainingMs, ...stored }
        : stored
    },
    async remove(cacheKey, id) {
      await Promise.all(
        encryptions.map(async (encryption) => {
          const { redisKey } = await openEntries(encryption, keyPrefix, cacheKey)
          await run(removeScript, [redisKey], [`${id}.`])
        }),
      )
    },
    lease: async (cacheKey, ttlMs, slot) =>
      takeLease(run, await openEntries(encryptions[0], keyPrefix, cacheKey), slot ?? 'lease', ttlMs),
  }
}

function emit(listener: RedisTokenStoreOptions['onEvent'], event: EntryUnreadableEvent): void {
  try {
    listener?.(event)
  } catch {
    // An error of a listener must not fail the caller.
  }
}

function checkOptions(client: RedisTokenStoreClient, keyPrefix: unknown): ScriptSender {
  const sender = createScriptSender(client)
  if (sender === undefined) {
    throw configurationError(
      'client must be a client of the redis or the ioredis package, such as createClient({ url }) or new Redis(url).',
    )
  }
  if (typeof keyPrefix !== 'string') throw configurationError('keyPrefix must be a string')
  return sender
}
