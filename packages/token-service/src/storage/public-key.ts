import type { JsonWebKey } from 'node:crypto'

/** A public key, or the URL of a JWK set (RFC 7517, section 5). */
export type KeyMaterial = { readonly jwk: PublicJwk } | { readonly jwksUrl: string }

/** The members of a public JWK that matter here. */
export type PublicJwk = JsonWebKey & { readonly kid?: string; readonly alg?: string }

/** A registered key of a client that authenticates with assertions (`private_key_jwt`). */
export type PublicKey = KeyMaterial & {
  readonly id: string
  /** Given by its owner, or else its own ID, its thumbprint or URL. */
  readonly name: string
  readonly createdAtMs: number
  readonly expiresAtMs?: number | undefined
  /** From the configuration. */
  readonly configured?: boolean | undefined
}
