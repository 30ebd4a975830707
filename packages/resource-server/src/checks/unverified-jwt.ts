/**
 * A part of a JWT, before anything is verified: 0 is the header, 1 the claims. Undefined if it is not JSON. Takes a quarter of
 * the time of `decodeJwt`, which every new token would spend twice.
 */
export function unverifiedPart(token: string, index: 0 | 1): unknown {
  try {
    const bytes = atob(token.split('.', 2)[index]!.replaceAll('-', '+').replaceAll('_', '/'))
    // oxlint-disable-next-line eslint/no-control-regex -- whether all characters are ASCII
    const text = /^[\0-\x7f]*$/.test(bytes) ? bytes : decodeUtf8(bytes)
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The issuer that a JWT names. */
export function unverifiedIssuer(token: string): unknown {
  return (Object(unverifiedPart(token, 1)) as { readonly iss?: unknown }).iss
}

function decodeUtf8(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)))
}
