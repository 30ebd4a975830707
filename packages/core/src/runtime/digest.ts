/** SHA-256 of a JSON value, in hexadecimal; undefined without WebCrypto, as in a page loaded over plain HTTP. */
export async function digest(value: unknown): Promise<string | undefined> {
  const subtle = globalThis.crypto?.subtle
  if (subtle === undefined) return undefined
  const bytes = await subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(value)))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
