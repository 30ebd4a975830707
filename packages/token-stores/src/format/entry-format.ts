import type { TokenErrorKind, TokenResponse, TokenStore } from '@tokenwell/core'
import { parseTokenResponse, type TokenFailure } from '@tokenwell/core/protocol'
import { createEncryptions } from './entry-encryption.ts'

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
  /** The value starts with `id.` in plain text. @throws an error that concerns this key alone, for contents that JSON cannot express */
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
      const text = asErrorOfKey(() => documents[kind].write(content))
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

/** The store itself works, for all other keys: this must not pause it. */
function asErrorOfKey<Result>(write: () => Result): Result {
  try {
    return write()
  } catch {
    throw Object.assign(new Error('The entry cannot be encoded.'), { code: 'unencodable', scope: 'key' })
  }
}

/** Writes a token response in the format of a token endpoint, so that the same strict rules apply when it is read. */
function writeTokenDocument(response: TokenResponse): string {
  return JSON.stringify({
    ...response.extra,
    access_token: response.accessToken,
    token_type: response.tokenType,
    expires_in: response.expiresIn,
    refresh_in: response.refreshIn,
    issued_at: response.issuedAt?.getTime(),
    scope: response.scope,
    client_id: response.clientId,
    application_name: response.applicationName,
    organization_name: response.organizationName,
    developer_email: response.developerEmail,
    status: response.status,
    refresh_token: response.refreshToken,
    refresh_token_expires_in: response.refreshTokenExpiresIn,
    refresh_count: response.refreshCount,
    level: response.level,
    api_product_list_json: response.apiProducts,
  })
}

/** @throws {TokenError} for an invalid document */
function readTokenDocument(text: string): TokenResponse {
  const { raw: _raw, ...response } = parseTokenResponse(200, {}, text)
  return response
}

const kinds: readonly TokenErrorKind[] = [
  'credentials',
  'configuration',
  'throttled',
  'unavailable',
  'malformed',
  'aborted',
]

function writeCooldownDocument(failure: TokenFailure): string {
  const { kind, message, status, oauthError, vendorCode, retryAfterMs, attempts, failures } = failure
  return JSON.stringify({ kind, message, status, oauthError, vendorCode, retryAfterMs, attempts, failures })
}

/** @throws {TypeError | SyntaxError} for an invalid document */
function readCooldownDocument(text: string): TokenFailure {
  const members = (JSON.parse(text) ?? {}) as Record<string, unknown>
  const kind = kinds.find((name) => name === members['kind'])
  const message = members['message']
  if (kind === undefined || typeof message !== 'string') throw new TypeError('not a cooldown')
  const failure = {
    kind,
    message: message.slice(0, 500),
    status: number(members['status']),
    oauthError: code(members['oauthError']),
    vendorCode: code(members['vendorCode']),
    retryAfterMs: number(members['retryAfterMs']),
    attempts: number(members['attempts']),
    failures: number(members['failures']),
  }
  return Object.fromEntries(Object.entries(failure).filter(([, value]) => value !== undefined)) as never
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined
}

function code(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.-]{1,80}$/.test(value) ? value : undefined
}
