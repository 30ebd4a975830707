import { randomBytes, timingSafeEqual } from 'node:crypto'
import { UserMistake } from '../user-mistake.ts'
import { createHmacFunction } from './hmac.ts'

/** Hashes secrets under keys that are not in the database, so that a stolen database alone proves nothing. */
export interface Keyring {
  /** The newest first. */
  readonly keyIds: readonly string[]
  /** Hashes under the newest key. */
  hash(secret: string): { keyId: string; hash: string }
  /** The hash under every key, by key id: what a presented secret is compared with. */
  hashes(secret: string): ReadonlyMap<string, Buffer>
}

const minimumLength = 32

/** `keys`: the newest first; the others are still good for comparing. */
export function createKeyring(keys: readonly string[]): Keyring {
  const [newest, ...older] = keys.map(parseKey)
  if (!newest) throw new UserMistake('No key was given. Give at least one of 32 or more random characters.')

  return {
    keyIds: [newest, ...older].map(({ id }) => id),
    hash(secret) {
      return { keyId: newest.id, hash: newest.hmac(secret).toString('base64url') }
    },
    hashes(secret) {
      const hashes = new Map([[newest.id, newest.hmac(secret)]])
      for (const { id, hmac } of older) hashes.set(id, hmac(secret))
      return hashes
    },
  }
}

export function createRandomKey(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares in a time that depends on neither value. */
export function sameHash(stored: string, presented: Buffer): boolean {
  const expected = Buffer.from(stored, 'base64url')
  return expected.length === presented.length && timingSafeEqual(expected, presented)
}

function parseKey(text: string): { id: string; hmac: (text: string) => Buffer } {
  if (text.length < minimumLength) {
    throw new UserMistake(
      `A key has ${text.length} characters. Give one of ${minimumLength} or more random characters.`,
    )
  }
  const hmac = createHmacFunction(Buffer.from(text))
  return { id: hmac('tokenwell key id').toString('hex').slice(0, 8), hmac }
}
