import type { TokenResponse, TokenStore } from '@tokenwell/core'
import type { TokenFailure } from '@tokenwell/core/protocol'
import { readCooldownDocument, writeCooldownDocument } from './cooldown-document.ts'
import { createEncryptions } from './encryption-keys.ts'
import { readTokenDocument, writeTokenDocument } from './token-document.ts'

/** What an entry of each kind holds. */
export interface EntryContents {
  readonly token: TokenResponse
  readonly cooldown: TokenFailure
}

export type EntryKind = keyof EntryContents

export interface Entry<Kind extends EntryKind> {
  /** Letters, digits, `_` and `-`. */
  readonly id: string
  /** Milliseconds since 1970, by the store's clock. */
  readonly expiresAt: number
  readonly content: EntryContents[Kind]
}

/** The values that a store found under one name. */
export interface FoundEntries extends Readonly<Partial<Record<EntryKind, string | null | undefined>>> {
  /** Milliseconds since 1970, by the store's clock. */
  readonly now: number
}

export interface EntryFormatOptions {
  /** The kind of store, such as `redis store`: another kind derives other encryption keys. */
  readonly store: string
  /**
   * Keys of 32 bytes, as a `Uint8Array` or in base64. Entries are encrypted with the first one and decrypted with any of them.
   * Without keys, entries are plain text. @default none
   */
  readonly encryptionKeys?: readonly (string | Uint8Array)[] | undefined
  /**
   * Called for an entry that was changed or written by another program; it counts as missing. Must not throw: pass the
   * listeners of your users to `notifyListener` of `@tokenwell/core`.
   */
  readonly onUnreadable?: ((name: string, kind: EntryKind) => void) | undefined
}

/** How entries are named and encoded. */
export interface EntryFormat {
  /** Where the entries of a cache key are, one name per encryption key. Write under the first one, and lease it. */
  names(cacheKey: string): readonly [string, ...string[]]
  /** The value starts with `id.` in plain text. */
  encode<Kind extends EntryKind>(cacheKey: string, kind: Kind, entry: Entry<Kind>): string
  /** The result of a store's `read`. @param found what the store found under each name, in the order of `names` */
  read(cacheKey: string, found: readonly FoundEntries[]): Awaited<ReturnType<TokenStore['read']>>
}

const documents: { [Kind in EntryKind]: EntryDocument<EntryContents[Kind]> } = {
  token: { write: writeTokenDocument, read: readTokenDocument },
  cooldown: { write: writeCooldownDocument, read: readCooldownDocument },
}

type EntryHead = readonly [head: string, id: string, expiry: string]

interface EntryDocument<Content> {
  write(content: Content): string
  read(text: string): Content
}

/** @throws {TokenError} of kind `configuration` for an invalid key */
export function createEntryFormat({ store, encryptionKeys, onUnreadable }: EntryFormatOptions): EntryFormat {
  const encryptions = createEncryptions(encryptionKeys, store)

  /** Undefined if the entry is missing, expired or unreadable. */
  function decode<Kind extends EntryKind>(
    cacheKey: string,
    encryption: (typeof encryptions)[number],
    kind: Kind,
    { now, [kind]: value }: FoundEntries,
  ) {
    if (value === undefined || value === null) return undefined
    try {
      // Throws for anything that is not an entry.
      const [head, id, expiry] = /^([\w-]{1,80})\.(\d{1,15})\./.exec(value) as unknown as EntryHead
      const text = encryption.decrypt(value.slice(head.length), [cacheKey, kind, head])
      const content = documents[kind].read(text)
      // The expiry in the entry counts, not that of the store: a restored old entry may have any.
      const remainingMs = Number(expiry) - now
      return remainingMs > 0 ? { id, remainingMs, content } : undefined
    } catch {
      onUnreadable?.(encryption.name(cacheKey), kind)
      return undefined
    }
  }

  return {
    names: (cacheKey) => {
      const [first, ...others] = encryptions
      return [first.name(cacheKey), ...others.map((encryption) => encryption.name(cacheKey))]
    },
    encode(cacheKey, kind, { id, expiresAt, content }) {
      const head = `${id}.${expiresAt}.`
      const text = documents[kind].write(content)
      return head + encryptions[0].encrypt(text, [cacheKey, kind, head])
    },
    read(cacheKey, found) {
      // With older encryption keys too, during a key rotation. Leases and cooldowns use the first key only.
      const [token] = encryptions
        .flatMap((encryption, index) => decode(cacheKey, encryption, 'token', found[index]!) ?? [])
        .toSorted((a, b) => b.remainingMs - a.remainingMs)
      const cooldown = decode(cacheKey, encryptions[0], 'cooldown', found[0]!)
      const stored = cooldown && { cooldownMs: cooldown.remainingMs, error: cooldown.content }
      return token
        ? { id: token.id, response: token.content, remainingMs: token.remainingMs, ...stored }
        : stored
    },
  }
}
