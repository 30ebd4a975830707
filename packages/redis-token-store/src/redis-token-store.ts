import type { TokenStore } from '@tokenwell/core'
import { configurationError } from './configuration-error.ts'
import { openVaults } from './encryption-keys.ts'
import { openSlot, type EntryKind, type EntrySlot } from './entry-slot.ts'
import type { EntryVault } from './entry-vault.ts'
import { readHoldDocument } from './hold-document.ts'
import type { RedisTokenStoreClient } from './redis-client.ts'
import { takeLease } from './redis-lease.ts'
import { createScriptRunner, readText, readTime } from './redis-script.ts'
import { readTokenDocument } from './token-document.ts'
import { readScript, removeScript } from './token-scripts.ts'

/** An entry counted as absent: it was tampered with, or put there by somebody else. */
export interface EntryUnreadableEvent {
  readonly type: 'entry_unreadable'
  readonly redisKey: string
}

/** How tokens are shared through Redis. */
export interface RedisTokenStoreOptions {
  /** A client of the `redis` package, standalone, Sentinel or Cluster. Connect it; the store never closes it. */
  readonly client: RedisTokenStoreClient
  /** What the names of all Redis keys start with. @default 'tokenwell:' */
  readonly keyPrefix?: string | undefined
  /**
   * Keys of 32 bytes, as bytes or in base64: entries are encrypted with the first and read with any. Without them
   * tokens lie in Redis as plain text. @default none
   */
  readonly encryptionKeys?: readonly (string | Uint8Array)[] | undefined
  /** Told of entries that cannot be read. */
  readonly onEvent?: ((event: EntryUnreadableEvent) => void) | undefined
}

/**
 * A token store in Redis or Valkey: all processes that use it share their tokens, and ask for each once.
 *
 * @example
 * const store = createRedisTokenStore({ client, encryptionKeys: [process.env.TOKEN_KEY] })
 * const tokens = createTokenProvider(source, { store })
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for options that cannot be right
 */
export function createRedisTokenStore(options: RedisTokenStoreOptions): TokenStore {
  const { client, keyPrefix = 'tokenwell:', encryptionKeys, onEvent } = options
  checkOptions(client, keyPrefix)
  const vaults = openVaults(encryptionKeys)
  const run = createScriptRunner(client)

  /** What an entry holds and for how long still; undefined where there is none, or none that can be read. */
  async function readEntry<Content>(
    slot: EntrySlot,
    kind: EntryKind,
    reply: unknown,
    now: number,
    parse: (text: string) => Content,
  ) {
    const value = readText(reply)
    if (value === undefined) return undefined
    try {
      const { id, endsAt, text } = await slot.open(kind, value)
      const content = parse(text)
      // Its end counts and not the key's, which whoever brings back an old entry may choose.
      return endsAt > now ? { id, leftMs: endsAt - now, content } : undefined
    } catch {
      tell(onEvent, { type: 'entry_unreadable', redisKey: slot.keys[kind] })
      return undefined
    }
  }

  async function readSlot(vault: EntryVault, cacheKey: string) {
    const slot = await openSlot(vault, keyPrefix, cacheKey)
    const reply = await run(readScript, [slot.keys.token, slot.keys.hold])
    const [time, token, hold] = Array.isArray(reply) ? (reply as unknown[]) : []
    const now = readTime(time)
    return {
      token: await readEntry(slot, 'token', token, now, readTokenDocument),
      hold: await readEntry(slot, 'hold', hold, now, readHoldDocument),
    }
  }

  return {
    async read(cacheKey) {
      // Under older keys too, while a fleet changes over; leases and holds are those of the first.
      const slots = await Promise.all(vaults.map((vault) => readSlot(vault, cacheKey)))
      const [token] = slots.flatMap((slot) => slot.token ?? []).sort((a, b) => b.leftMs - a.leftMs)
      const hold = slots[0]!.hold
      const held = hold && { cooldownMs: hold.leftMs, error: hold.content }
      return token ? { id: token.id, response: token.content, remainingMs: token.leftMs, ...held } : held
    },
    async remove(cacheKey, id) {
      await Promise.all(
        vaults.map(async (vault) => {
          const { keys } = await openSlot(vault, keyPrefix, cacheKey)
          await run(removeScript, [keys.token], [`${id}.`])
        }),
      )
    },
    lease: async (cacheKey, ttlMs) => takeLease(run, await openSlot(vaults[0], keyPrefix, cacheKey), ttlMs),
  }
}

function tell(listener: RedisTokenStoreOptions['onEvent'], event: EntryUnreadableEvent): void {
  try {
    listener?.(event)
  } catch {
    // A listener's fault is not the caller's.
  }
}

function checkOptions(client: RedisTokenStoreClient | undefined, keyPrefix: unknown): void {
  if (typeof client?.withCommandOptions !== 'function') {
    throw configurationError(
      'client must be a client of the redis package, version 5 or 6, such as createClient({ url })',
    )
  }
  if (typeof keyPrefix !== 'string' || /[{}]/.test(keyPrefix)) {
    throw configurationError(
      'keyPrefix must be a string without braces: they would part the keys of one token on a cluster',
    )
  }
}
