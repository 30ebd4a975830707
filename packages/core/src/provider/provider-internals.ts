import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenEvent } from '../tokens/token-event.ts'

// Registered globally, so that two copies of this package in one program work together.

/** How an attacher reports to a provider's listeners. */
export const emitEvent: unique symbol = Symbol.for('tokenwell.emitEvent') as never
/**
 * The cached token while it is fresh and there is nothing to wait for; for a request that cannot be repeated, only
 * if no API has rejected it.
 */
export const freshToken: unique symbol = Symbol.for('tokenwell.freshToken') as never
/** How an attacher reports that one request's token was rejected. */
export const rejectForRequest: unique symbol = Symbol.for('tokenwell.rejectForRequest') as never
/** A token for a request that cannot be repeated: after a rejection, it waits for the replacement. */
export const tokenForSingleUse: unique symbol = Symbol.for('tokenwell.tokenForSingleUse') as never
/** How an attacher reports that an API accepted a replacement. */
export const acceptReplacement: unique symbol = Symbol.for('tokenwell.acceptReplacement') as never

/** A request whose token an API rejected. */
export interface RejectedRequest {
  readonly origin: string
  /** Origin and path: one broken path does not affect the others. */
  readonly resource: string
  /** Whether the request will be sent again. */
  readonly repeatable: boolean
  readonly signal?: AbortSignal | undefined
}

/** What providers of this package offer to attachers; optional for other providers. */
export interface ProviderInternals {
  [emitEvent]?(event: TokenEvent): void
  [freshToken]?(singleUse: boolean): AccessToken | undefined
  [tokenForSingleUse]?(signal: AbortSignal | undefined): Promise<AccessToken>
  /**
   * Like `reject`, but other requests continue to use the token until its replacement has arrived.
   *
   * @returns the replacement for a request that is repeated; undefined if none is requested now
   */
  [rejectForRequest]?(token: AccessToken, request: RejectedRequest): Promise<AccessToken> | undefined
  [acceptReplacement]?(resource: string): void
}
