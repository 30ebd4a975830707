import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import { UsageError } from '../runtime/usage-error.ts'

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

/** `keys`: the newest first; older keys are used only for comparison. */
export function createKeyring(keys: readonly string[]): Keyring {
  const [newest, ...older] = keys.map(parseKey)
  if (!newest)
    throw new UsageError(
      `keys is empty. Pass at least one key of ${minimumLength} or more random characters.`,
    )

  const all = [newest, ...older]

  return {
    keyIds: all.map(({ id }) => id),
    hash: (secret) => ({ keyId: newest.id, hash: newest.hmac(secret).toString('base64url') }),
    matching(stored, secret) {
      const hashes = new Map(all.map(({ id, hmac }) => [id, hmac(secret)]))
      return stored.filter(({ keyId, hash }) => {
        const presented = hashes.get(keyId)
        return presented !== undefined && sameHash(hash, presented)
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
