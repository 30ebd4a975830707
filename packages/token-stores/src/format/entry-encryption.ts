import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { configurationError } from '@tokenwell/core/protocol'

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

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/**
 * Names, encrypts and decrypts entries. Synchronous, because WebCrypto's threads are shared by the whole process:
 * behind thousands of other tasks, an entry would wait longer than for its store.
 */
export interface EntryEncryption {
  /** The name of the entries of a cache key. */
  name(cacheKey: string): string
  /** @param context the data that is authenticated with the text */
  encrypt(text: string, context: readonly unknown[]): string
  /** @throws if the body was encrypted with another key or for another context, or was changed */
  decrypt(body: string, context: readonly unknown[]): string
}

/** Stores entries as plain text. */
const plainText: EntryEncryption = {
  name: (cacheKey) => createHash('sha256').update(cacheKey).digest('base64url'),
  encrypt: (text) => text,
  decrypt: (body) => body,
}

/**
 * Encrypts entries with AES-256-GCM and names them with an HMAC; both keys are derived (RFC 5869) from the given one.
 * The name starts with the ID of the key.
 *
 * @param store the kind of store: another kind derives other keys
 */
function createEncryption(key: Uint8Array, store: string): EntryEncryption {
  const derive = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', key, '', `tokenwell ${store}: ${purpose}`, bytes))
  const id = derive('key id', 6).toString('base64url')
  const naming = createSecretKey(derive('entry names', 32))
  const encryption = createSecretKey(derive('entries', 32))
  return {
    name: (cacheKey) => `${id}.${createHmac('sha256', naming).update(cacheKey).digest('base64url')}`,
    encrypt(text, context) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv(algorithm, encryption, iv).setAAD(bytesOf(context))
      const encrypted = [iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]
      return Buffer.concat(encrypted).toString('base64url')
    },
    decrypt(body, context) {
      const bytes = Buffer.from(body, 'base64url')
      // The decoder ignores stray characters, so that a changed body would be accepted.
      if (bytes.toString('base64url') !== body) throw new TypeError('not base64url')
      const [iv, encrypted, tag] = [
        bytes.subarray(0, ivBytes),
        bytes.subarray(ivBytes, -tagBytes),
        bytes.subarray(-tagBytes),
      ]
      // Without its length, shorter tags would be accepted.
      const decipher = createDecipheriv(algorithm, encryption, iv, { authTagLength: tagBytes })
      decipher.setAAD(bytesOf(context)).setAuthTag(tag)
      return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString()
    },
  }
}

function bytesOf(context: readonly unknown[]): Buffer {
  return Buffer.from(JSON.stringify(context))
}
