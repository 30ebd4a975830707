import { TokenError } from '@tokenwell/core'
import { createEncryptedVault, plainVault, type EntryVault } from './entry-vault.ts'

/** One vault for each key, the first for writing. */
export function openVaults(
  keys: readonly (string | Uint8Array)[] | undefined,
): [EntryVault, ...EntryVault[]] {
  if (keys === undefined) return [plainVault]
  if (!Array.isArray(keys))
    throw new TokenError({ kind: 'configuration', message: 'encryptionKeys must be a list of keys' })
  const [first, ...others] = keys.map((key: unknown, index) => createEncryptedVault(keyBytes(key, index)))
  if (first !== undefined) return [first, ...others]
  throw new TokenError({
    kind: 'configuration',
    message:
      'encryptionKeys is empty; give at least one key, or leave the option out to store tokens as plain text',
  })
}

function keyBytes(key: unknown, index: number): Uint8Array<ArrayBuffer> {
  const bytes =
    typeof key === 'string' && /^[\w+/-]*={0,2}$/.test(key)
      ? Buffer.from(key, 'base64')
      : key instanceof Uint8Array
        ? Buffer.from(key)
        : undefined
  if (bytes?.byteLength === 32) return bytes
  const found = bytes
    ? `it has ${bytes.byteLength}`
    : `it is ${typeof key === 'string' ? 'no base64' : String(key === null ? key : typeof key)}`
  throw new TokenError({
    kind: 'configuration',
    message: `encryptionKeys[${index}] must have 32 bytes, in base64 as "openssl rand -base64 32" prints them or as a Uint8Array; ${found}`,
  })
}
