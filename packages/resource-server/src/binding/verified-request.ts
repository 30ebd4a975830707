/** What a token's binding is checked against. Create a new object for each request. */
export interface VerifiedRequest {
  readonly method: string
  /**
   * The absolute URL; path and query are enough if the verifier has a `publicUrl`. Pass undefined if the request's
   * `Host` is not a host and a port alone, or its target is invalid: with a proof, it then gets a 400.
   */
  readonly url: string | undefined
  /** The `DPoP` header. */
  readonly dpop?: string | undefined
  /** The certificate of the connection (RFC 8705): DER, or PEM text. */
  readonly clientCertificate?: Uint8Array | string | undefined
  /** The framework's own request object: all checks of one object accept the same proof. @default this object */
  readonly incoming?: object | undefined
}
