/** The injection token of the verifier, for tests and factories. */
export function getTokenVerifierToken(): string {
  return 'TokenVerifier'
}

/** The injection token of the module's `clientCertificate`. */
export const CLIENT_CERTIFICATE = 'ResourceServerModule.clientCertificate'
