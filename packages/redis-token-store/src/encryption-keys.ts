import { configurationError } from './configuration-error.ts'
import { createEncryptedVault, plainVault, type EntryVault } from './entry-vault.ts'

/** One vault for each key, the first for writing. @throws {TokenError} of kind `configuration` */
export function openVaults(keys: readonly unknown[] | undefined): [EntryVault, ...EntryVault[]] {
  if (keys === undefined) return [plainVault]
  if (!Array.isArray(keys)) throw configurationError('encryptionKeys must be a list of keys')
  const [first, ...others] = keys.map((key, index) => createEncryptedVault(keyBytes(key, index)))
  if (first !== undefined) return [first, ...others]
  throw configurationError(
    'encryptionKeys is empty; give at least one key, or leave the option out to store tokens as plain text',
  )
}

function keyBytes(key: unknown, index: number): Uint8Array<ArrayBuffer> {
  const bytes = decoded(key)
  if (bytes instanceof Uint8Array && bytes.byteLength === 32) return bytes
  const found = bytes instanceof Uint8Array ? `has ${bytes.byteLength}` : `is ${bytes}`
  throw configurationError(
    `encryptionKeys[${index}] must have 32 bytes, in base64 as "openssl rand -base64 32" prints them ` +
      `or as a Uint8Array; it ${found}`,
  )
}

/** A key's bytes, or what it is instead. */
function decoded(key: unknown): Uint8Array<ArrayBuffer> | string {
  if (key instanceof Uint8Array) return Buffer.from(key)
  if (typeof key !== 'string') return key === null ? 'null' : typeof key
  return /^[\w+/-]*={0,2}$/.test(key) ? Buffer.from(key, 'base64') : 'no base64'
}
