/** Asymmetric signatures only: a public key is never the secret of an HMAC (RFC 8725, section 3.1). */
export const assertionAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
