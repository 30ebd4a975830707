import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenWaitCause } from '../tokens/token-event.ts'
import type { GetTokenOptions } from './token-provider.ts'

/** What one call of `getToken` needs. */
export interface TokenDemand extends GetTokenOptions {
  /** A token other than this one: an API has rejected it. */
  readonly replacementOf?: AccessToken | undefined
  /** For a request that cannot be repeated: if there is no other token, it gets the rejected one. */
  readonly singleUse?: boolean
}

/** What happened during one call, for its event. */
export interface CallRecord {
  readonly startedAt: number
  result?: Promise<AccessToken>
  waitedFor?: TokenWaitCause | undefined
  requestId?: number | undefined
}
