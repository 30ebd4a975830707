import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import { digest } from '../platform/digest.ts'
import { UsageError } from '../platform/usage-error.ts'

/** Hashes secrets with keys that are not in the database, so that a stolen database alone is useless. */
export interface Keyring {
  /** The newest first. */
  readonly keyIds: readonly string[]
  /** Hashes with the newest key. */
  hash(secret: string): { keyId: string; hash: string }
  /** Those of the stored secrets that have this value; compares in constant time. */
  matching<Stored extends { readonly keyId: string; readonly hash: string }>(
    stored: readonly Stored[],
    secret: string,
  ): Stored[]
}

const minimumLength = 32
const maxVerified = 10_000

/** `keys`: the newest first; older keys are used only for comparison. */
export function createKeyring(keys: readonly string[]): Keyring {
  const [newest, ...older] = keys.map(parseKey)
  if (!newest)
    throw new UsageError(
      `keys is empty. Pass at least one key of ${minimumLength} or more random characters.`,
    )

  const hashes = (secret: string) =>
    new Map([newest, ...older].map(({ id, hmac }) => [id, hmac(secret)] as const))
  // An HMAC takes six times as long as a digest, a tenth of a token request. So a digest, salted for this process only, identifies a
  // secret that was verified before; it is never stored.
  const salt = createRandomKey()
  const verified = new Map<string, Uint8Array>()
  const none = randomBytes(43)

  return {
    keyIds: [newest, ...older].map(({ id }) => id),
    hash: (secret) => ({ keyId: newest.id, hash: newest.hmac(secret).toString('base64url') }),
    matching(stored, secret) {
      // In half the time of a digest as a buffer, which has memory of its own to allocate and free.
      const presented = Buffer.from(digest(salt + secret))
      let computed: ReadonlyMap<string, Buffer> | undefined
      return stored.filter((each) => {
        if (timingSafeEqual(verified.get(each.hash) ?? none, presented)) return true
        computed ??= hashes(secret)
        const own = computed.get(each.keyId)
        if (own === undefined || !sameHash(each.hash, own)) return false
        if (verified.size >= maxVerified) verified.clear()
        // A copy: the buffer is part of a larger one, which it would keep in memory.
        verified.set(each.hash, new Uint8Array(presented))
        return true
      })
    },
  }
}

export function createRandomKey(): string {
  return randomBytes(32).toString('base64url')
}

function sameHash(stored: string, presented: Buffer): boolean {
  const expected = Buffer.from(stored, 'base64url')
  return expected.length === presented.length && timingSafeEqual(expected, presented)
}

function parseKey(text: string): { id: string; hmac: (text: string) => Buffer } {
  if (text.length < minimumLength) {
    throw new UsageError(
      `A key has only ${text.length} characters. Use ${minimumLength} or more random characters.`,
    )
  }
  // A key object, because with a plain buffer, each HMAC takes five times as long.
  const key = createSecretKey(Buffer.from(text))
  const hmac = (data: string) => createHmac('sha256', key).update(data).digest()
  return { id: hmac('tokenwell key id').toString('hex').slice(0, 8), hmac }
}
