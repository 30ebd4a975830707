import { configurationError } from '../protocol/secure-url.ts'

/** SHA-256 of a JSON value, in hexadecimal. */
export async function digest(value: unknown): Promise<string> {
  const subtle = globalThis.crypto?.subtle
  if (subtle === undefined) {
    throw configurationError(
      'A shared token store needs WebCrypto: serve the page by HTTPS or from localhost',
    )
  }
  const bytes = await subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(value)))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
