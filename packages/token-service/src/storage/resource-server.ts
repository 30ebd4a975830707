import type { PublicKey } from './public-key.ts'
import type { StoredSecret } from './application.ts'

export type ResourceServerSecret = Omit<StoredSecret, 'applicationId'> & {
  /** From the configuration. */
  readonly configured?: boolean | undefined
}

/** An API that accepts tokens, and may introspect them (RFC 7662, section 2.1). */
export interface ResourceServer {
  readonly clientId: string
  readonly name: string
  readonly createdAtMs: number
  readonly secrets: readonly ResourceServerSecret[]
  readonly keys: readonly PublicKey[]
  /** Counts the changes. */
  readonly revision: number
}
