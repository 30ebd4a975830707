import type { EntryEncryption } from './entry-encryption.ts'

export type EntryKind = 'token' | 'cooldown'

/** An entry: `id.expiresAt.` in plain text, then its content. */
interface Entry {
  readonly id: string
  /** Milliseconds since 1970 by Redis's clock. */
  readonly expiresAt: number
  readonly text: string
}

/** The entries of one cache key: the Redis hash that holds them, and how they are encoded. */
export interface CacheKeyEntries {
  readonly redisKey: string
  encode(kind: EntryKind, entry: Entry): Promise<string>
  /** @throws if the value was not encoded by the same key for the same cache key, kind, ID and expiry */
  decode(kind: EntryKind, value: string): Promise<Entry>
}

export async function openEntries(
  encryption: EntryEncryption,
  keyPrefix: string,
  cacheKey: string,
): Promise<CacheKeyEntries> {
  return {
    redisKey: keyPrefix + (await encryption.name(cacheKey)),
    async encode(kind, { id, expiresAt, text }) {
      const head = `${id}.${expiresAt}.`
      return head + (await encryption.encrypt(text, [cacheKey, kind, head]))
    },
    async decode(kind, value) {
      const [head = '', id = '', expiresAt] = /^([\w-]{1,80})\.(\d{1,15})\./.exec(value) ?? []
      if (head === '') throw new TypeError('not an entry')
      const text = await encryption.decrypt(value.slice(head.length), [cacheKey, kind, head])
      return { id, expiresAt: Number(expiresAt), text }
    },
  }
}
