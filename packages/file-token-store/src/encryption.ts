import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { configurationError } from '@tokenwell/core/protocol'

/** Derives the names of entries from cache keys and encodes their content. */
export interface Encoding {
  nameOf(cacheKey: string): string
  encode(name: string, text: string): Buffer
  /** @throws if the content was not encoded for this name with this key */
  decode(name: string, content: Buffer): string
}

/** @throws {TokenError} of kind `configuration` for an invalid key */
export function createEncoding(key: unknown): Encoding {
  return key === undefined ? plainText : encryptedWith(keyBytes(key))
}

const plainText: Encoding = {
  nameOf: (cacheKey) => createHash('sha256').update(cacheKey).digest('base64url'),
  encode: (_name, text) => Buffer.from(text),
  decode: (_name, content) => content.toString(),
}

/** AES-256-GCM bound to the entry's name, which is an HMAC; both keys are derived from the given one (RFC 5869). */
function encryptedWith(key: Uint8Array): Encoding {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', key, '', `tokenwell file store: ${purpose}`, 32))
  const [namesKey, contentKey] = [derive('names'), derive('content')]
  return {
    nameOf: (cacheKey) => createHmac('sha256', namesKey).update(cacheKey).digest('base64url'),
    encode(name, text) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', contentKey, iv).setAAD(Buffer.from(name))
      return Buffer.concat([iv, cipher.update(Buffer.from(text)), cipher.final(), cipher.getAuthTag()])
    },
    decode(name, content) {
      const [iv, text, tag] = [content.subarray(0, 12), content.subarray(12, -16), content.subarray(-16)]
      const decipher = createDecipheriv('aes-256-gcm', contentKey, iv, { authTagLength: 16 })
      decipher.setAAD(Buffer.from(name)).setAuthTag(tag)
      return Buffer.concat([decipher.update(text), decipher.final()]).toString()
    },
  }
}

function keyBytes(key: unknown): Uint8Array {
  const bytes = typeof key === 'string' && /^[\w+/-]*={0,2}$/.test(key) ? Buffer.from(key, 'base64') : key
  if (bytes instanceof Uint8Array && bytes.byteLength === 32) return bytes
  throw configurationError(
    'encryptionKey must be 32 bytes, as a Uint8Array or in base64 (openssl rand -base64 32).',
  )
}
