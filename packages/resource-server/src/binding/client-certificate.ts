/** A certificate as DER. PEM may be percent-encoded, as nginx passes it on. */
export function certificateBytes(certificate: Uint8Array | string | undefined): Uint8Array | undefined {
  if (typeof certificate !== 'string') return certificate
  try {
    const [, base64 = certificate] =
      /-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----/s.exec(decodeURIComponent(certificate)) ?? []
    return Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
