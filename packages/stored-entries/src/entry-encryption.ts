const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Names, encrypts and decrypts entries. */
export interface EntryEncryption {
  /** The name of the entries of a cache key. */
  name(cacheKey: string): Promise<string>
  /** @param context the data that is authenticated with the text */
  encrypt(text: string, context: readonly unknown[]): Promise<string>
  /** @throws if the body was encrypted with another key or for another context, or was changed */
  decrypt(body: string, context: readonly unknown[]): Promise<string>
}

/** Stores entries as plain text. */
export const plainText: EntryEncryption = {
  name: async (cacheKey) => base64url(await crypto.subtle.digest('SHA-256', encoder.encode(cacheKey))),
  encrypt: async (text) => text,
  decrypt: async (body) => body,
}

/**
 * Encrypts entries with AES-256-GCM and names them with an HMAC; both keys are derived (RFC 5869) from the given one.
 * The name starts with the ID of the key.
 *
 * @param store the kind of store: another kind derives other keys
 */
export function createEncryption(key: Uint8Array<ArrayBuffer>, store: string): EntryEncryption {
  const keys = deriveKeys(key, store)
  // Each caller gets the rejection.
  keys.catch(() => {})
  return {
    async name(cacheKey) {
      const { id, naming } = await keys
      return `${id}.${base64url(await crypto.subtle.sign('HMAC', naming, encoder.encode(cacheKey)))}`
    },
    async encrypt(text, context) {
      const { encryption } = await keys
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const encrypted = await crypto.subtle.encrypt(gcm(iv, context), encryption, encoder.encode(text))
      return base64url(Buffer.concat([iv, Buffer.from(encrypted)]))
    },
    async decrypt(body, context) {
      const { encryption } = await keys
      const bytes = Buffer.from(body, 'base64url')
      // The decoder ignores stray characters, so that a changed body would be accepted.
      if (base64url(bytes) !== body) throw new TypeError('not base64url')
      const iv = bytes.subarray(0, 12)
      return decoder.decode(await crypto.subtle.decrypt(gcm(iv, context), encryption, bytes.subarray(12)))
    },
  }
}

function gcm(iv: Uint8Array<ArrayBuffer>, context: readonly unknown[]) {
  return { name: 'AES-GCM', iv, additionalData: encoder.encode(JSON.stringify(context)) }
}

async function deriveKeys(key: Uint8Array<ArrayBuffer>, store: string) {
  const { subtle } = crypto
  const master = await subtle.importKey('raw', key, 'HKDF', false, ['deriveKey', 'deriveBits'])
  const purpose = (info: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: encoder.encode(`tokenwell ${store}: ${info}`),
  })
  const [id, naming, encryption] = await Promise.all([
    subtle.deriveBits(purpose('key id'), master, 48),
    subtle.deriveKey(purpose('entry names'), master, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, [
      'sign',
    ]),
    subtle.deriveKey(purpose('entries'), master, { name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]),
  ])
  return { id: base64url(id), naming, encryption }
}

function base64url(bytes: ArrayBuffer | Uint8Array): string {
  return Buffer.from(bytes as ArrayBuffer).toString('base64url')
}
