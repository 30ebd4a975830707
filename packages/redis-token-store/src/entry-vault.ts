const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Names entries, and closes and opens what is in them. */
export interface EntryVault {
  /** The name of a cache key's entries; no brace in it, whatever the key. */
  name(cacheKey: string): Promise<string>
  /** @param context what the text belongs to */
  seal(text: string, context: readonly unknown[]): Promise<string>
  /** @throws when it was sealed by another vault, or for another context, or by nobody */
  open(body: string, context: readonly unknown[]): Promise<string>
}

/** Keeps entries as plain text. */
export const plainVault: EntryVault = {
  name: async (cacheKey) => base64url(await crypto.subtle.digest('SHA-256', encoder.encode(cacheKey))),
  seal: async (text) => text,
  open: async (body) => body,
}

/**
 * Encrypts entries with AES-256-GCM, and names them by an HMAC, each under a key derived (RFC 5869) from the one
 * given. The name starts with the key's id.
 */
export function createEncryptedVault(key: Uint8Array<ArrayBuffer>): EntryVault {
  const keys = deriveKeys(key)
  // Whoever asks hears of it.
  keys.catch(() => {})
  return {
    async name(cacheKey) {
      const { id, naming } = await keys
      return `${id}.${base64url(await crypto.subtle.sign('HMAC', naming, encoder.encode(cacheKey)))}`
    },
    async seal(text, context) {
      const { sealing } = await keys
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const sealed = await crypto.subtle.encrypt(gcm(iv, context), sealing, encoder.encode(text))
      return base64url(Buffer.concat([iv, Buffer.from(sealed)]))
    },
    async open(body, context) {
      const { sealing } = await keys
      const bytes = Buffer.from(body, 'base64url')
      // Decoding passes over stray characters: what was tampered with would open all the same.
      if (base64url(bytes) !== body) throw new TypeError('no base64url')
      const iv = bytes.subarray(0, 12)
      return decoder.decode(await crypto.subtle.decrypt(gcm(iv, context), sealing, bytes.subarray(12)))
    },
  }
}

function gcm(iv: Uint8Array<ArrayBuffer>, context: readonly unknown[]) {
  return { name: 'AES-GCM', iv, additionalData: encoder.encode(JSON.stringify(context)) }
}

async function deriveKeys(key: Uint8Array<ArrayBuffer>) {
  const { subtle } = crypto
  const master = await subtle.importKey('raw', key, 'HKDF', false, ['deriveKey', 'deriveBits'])
  const purpose = (info: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: encoder.encode(`tokenwell redis store: ${info}`),
  })
  const [id, naming, sealing] = await Promise.all([
    subtle.deriveBits(purpose('key id'), master, 48),
    subtle.deriveKey(purpose('entry names'), master, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, [
      'sign',
    ]),
    subtle.deriveKey(purpose('entries'), master, { name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]),
  ])
  return { id: base64url(id), naming, sealing }
}

function base64url(bytes: ArrayBuffer | Uint8Array): string {
  return Buffer.from(bytes as ArrayBuffer).toString('base64url')
}
