import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenEvent } from '../tokens/token-event.ts'

// Registered globally, so that two copies of this package in one program understand each other.

/** How an attacher tells a provider's listeners. */
export const emitEvent: unique symbol = Symbol.for('tokenwell.emitEvent') as never
/** The token at hand while it is fresh: there is nothing to wait for, nor to renew. */
export const freshToken: unique symbol = Symbol.for('tokenwell.freshToken') as never

/** What providers of this package offer to attachers, and others need not. */
export interface ProviderInternals {
  [emitEvent]?(event: TokenEvent): void
  [freshToken]?(): AccessToken | undefined
}
