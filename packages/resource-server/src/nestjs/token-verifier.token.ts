/** The injection token of the verifier, for tests and factories. */
export function getTokenVerifierToken(): string {
  return 'TokenVerifier'
}
