import { digest } from '../runtime/digest.ts'
import { invalidToken } from '../credentials/read-credentials.ts'
import type { TokenVerificationFailure } from '../rejection/token-verification-error.ts'
import { certificateBytes } from './client-certificate.ts'
import type { DpopProofs } from './dpop-proofs.ts'
import type { VerifiedRequest } from './verified-request.ts'

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
