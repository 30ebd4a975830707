import { createHmac, createSecretKey, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose'
import { UsageError } from './usage-error.ts'

/** Hashes secrets and encrypts signing keys with keys that are not in the database, so that a stolen database alone is useless. */
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
  /** Encrypts with the newest key (RFC 7516). */
  encrypt(text: string): Promise<string>
  /** `undefined` if it was encrypted with a key that the keyring lacks, or was changed. */
  decrypt(encrypted: string): Promise<string | undefined>
  /**
   * The same, encrypted with the newest key, so that an older one can be removed; `undefined` if it is already, and as for
   * `decrypt`.
   */
  withNewestKey(encrypted: string): Promise<string | undefined>
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

  const encrypt = (text: string) =>
    new CompactEncrypt(Buffer.from(text))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: newest.id })
      .encrypt(newest.encryptionKey())

  const decrypt = async (encrypted: string) => {
    try {
      const { kid } = decodeProtectedHeader(encrypted)
      const key = all.find(({ id }) => id === kid)?.encryptionKey()
      if (!key) return undefined
      const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
      const { plaintext } = await compactDecrypt(encrypted, key, algorithms)
      return Buffer.from(plaintext).toString()
    } catch {
      return undefined
    }
  }

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
    encrypt,
    decrypt,
    async withNewestKey(encrypted) {
      const text = await decrypt(encrypted)
      if (text === undefined || decodeProtectedHeader(encrypted).kid === newest.id) return undefined
      return encrypt(text)
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

function parseKey(text: string): {
  id: string
  hmac: (text: string) => Buffer
  encryptionKey: () => Uint8Array
} {
  if (text.length < minimumLength) {
    throw new UsageError(
      `A key has only ${text.length} characters. Use ${minimumLength} or more random characters.`,
    )
  }
  // A key object, because with a plain buffer, each HMAC takes five times as long.
  const key = createSecretKey(Buffer.from(text))
  const hmac = (data: string) => createHmac('sha256', key).update(data).digest()
  // Another key than that of the hashes: each has one purpose.
  const encryptionKey = () => new Uint8Array(hkdfSync('sha256', key, '', 'tokenwell encryption', 32))
  return { id: hmac('tokenwell key id').toString('hex').slice(0, 8), hmac, encryptionKey }
}
