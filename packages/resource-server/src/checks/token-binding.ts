import { digest } from './digest.ts'
import { invalidToken } from '../http/credentials.ts'
import type { TokenVerificationFailure } from '../http/token-verification-error.ts'
import type { DpopProofs } from './dpop-proofs.ts'
import type { VerifiedRequest } from '../http/node-request.ts'

export interface BoundToken {
  readonly token: string
  readonly scheme: 'bearer' | 'dpop'
  /** The `cnf` claim (RFC 7800). */
  readonly confirmation: unknown
}

/** Whether the sender of a bound token holds its key (RFC 9449, section 7; RFC 8705, section 3). */
export async function checkBinding(
  { token, scheme, confirmation }: BoundToken,
  request: VerifiedRequest | undefined,
  proofs: () => Promise<DpopProofs>,
  required: boolean,
): Promise<TokenVerificationFailure | undefined> {
  const { jkt, 'x5t#S256': thumbprint } = Object(confirmation) as Record<string, unknown>
  const bindings = [jkt, thumbprint].filter((each) => each !== undefined)
  if (
    confirmation !== undefined &&
    (bindings.length === 0 || bindings.some((each) => typeof each !== 'string'))
  ) {
    return { ...invalidToken, message: 'The access token is bound in a way that this API does not support.' }
  }
  if (thumbprint !== undefined) {
    const certificate = certificateBytes(request?.clientCertificate)
    if (certificate === undefined || (await digest(certificate)) !== thumbprint) {
      return { ...invalidToken, message: 'The access token is bound to a different client certificate.' }
    }
  }
  if (jkt !== undefined && scheme !== 'dpop') {
    return { ...invalidToken, message: 'The access token is bound to a key. Send it with a DPoP proof.' }
  }
  if (required && jkt === undefined) {
    return { ...invalidToken, message: 'This API requires an access token that is bound to a key.' }
  }
  if (scheme !== 'dpop') return undefined
  if (typeof jkt !== 'string') {
    return {
      ...invalidToken,
      message: 'The access token is not bound to a key. Send it with the scheme Bearer.',
    }
  }
  return (await proofs()).check(request, token, jkt)
}

/** A certificate as DER. PEM may be percent-encoded, as nginx passes it on. */
function certificateBytes(certificate: Uint8Array | string | undefined): Uint8Array | undefined {
  if (typeof certificate !== 'string') return certificate
  try {
    const [, base64 = certificate] =
      /-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----/s.exec(decodeURIComponent(certificate)) ?? []
    return Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
