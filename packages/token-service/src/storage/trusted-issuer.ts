/** A part of a JWT's claims: `{ sub: 'repo:example/orders:*', 'kubernetes.io': { namespace: 'orders' } }`. */
export interface ClaimPatterns {
  readonly [claim: string]: string | number | boolean | ClaimPatterns
}

/** Which application a JWT stands for. */
export interface IdentityRule {
  readonly clientId: string
  /** All of them must be in the JWT; of a list, one member. A `*` at the end stands for any rest. */
  readonly claims: ClaimPatterns
}

/** An issuer whose JWTs are exchanged for access tokens (RFC 7523, section 2.1). */
export interface TrustedIssuer {
  readonly id: string
  /** The `iss` of its JWTs. */
  readonly issuer: string
  /** The URL of its JWK set; `undefined`: the one in its metadata. */
  readonly jwksUrl?: string | undefined
  /** The `aud` of its JWTs; without any, this service's issuer or token endpoint. */
  readonly audiences: readonly string[]
  /** Whether each JWT is accepted once; it then needs a `jti`. */
  readonly detectReplay: boolean
  readonly rules: readonly IdentityRule[]
  /** Whether it is in the configuration, which alone changes it. */
  readonly configured: boolean
  readonly createdAtMs: number
}
