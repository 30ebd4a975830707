import type { StoredSecret, PublicKey } from './application.ts'

/** An API that accepts tokens, and may introspect them (RFC 7662, section 2.1). */
export interface ResourceServer {
  readonly id: string
  readonly clientId: string
  readonly name: string
  readonly createdAtMs: number
  readonly secrets: readonly StoredSecret[]
  readonly keys: readonly PublicKey[]
  /** Counts the changes. */
  readonly revision: number
}
