import { configurationError } from '@tokenwell/core/protocol'
import { createEncryption, plainText, type EntryEncryption } from './entry-encryption.ts'

/** One encryption per key; the first one is used for writing. @throws {TokenError} of kind `configuration` */
export function createEncryptions(
  keys: readonly unknown[] | undefined,
  store: string,
): [EntryEncryption, ...EntryEncryption[]] {
  if (keys === undefined) return [plainText]
  if (!Array.isArray(keys)) throw configurationError('encryptionKeys must be a list of keys.')
  const [first, ...others] = keys.map((key, index) => createEncryption(keyBytes(key, index), store))
  if (first !== undefined) return [first, ...others]
  throw configurationError(
    'encryptionKeys is empty. Pass at least one key, or omit the option to store tokens as plain text.',
  )
}

function keyBytes(key: unknown, index: number): Uint8Array {
  const bytes = decoded(key)
  if (bytes instanceof Uint8Array && bytes.byteLength === 32) return bytes
  const found = bytes instanceof Uint8Array ? `has ${bytes.byteLength}` : `is ${bytes}`
  throw configurationError(
    `encryptionKeys[${index}] must be 32 bytes, as a Uint8Array or in base64 (openssl rand -base64 32), ` +
      `but it ${found}.`,
  )
}

/** The bytes of a key, or a description of an invalid one. */
function decoded(key: unknown): Uint8Array | string {
  if (key instanceof Uint8Array) return Buffer.from(key)
  if (typeof key !== 'string') return key == null ? String(key) : `of type ${typeof key}`
  return /^[\w+/-]*={0,2}$/.test(key) ? Buffer.from(key, 'base64') : 'not base64'
}
