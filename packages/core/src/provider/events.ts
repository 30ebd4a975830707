import type { TokenErrorKind } from '../protocol/token-error.ts'
import { addListener, notifyListeners, type RunInContext } from '../runtime/listeners.ts'
import type { StoreEvent } from '../sharing/store-operations.ts'
import { remainingLifetimeMs, type AccessToken } from './access-token.ts'

/** Why a token was requested. */
export type TokenRequestReason =
  | 'first'
  | 'refresh_ahead'
  | 'expiring'
  | 'rejected'
  | 'forced'
  | 'minimum_validity'

/** What a call to `getToken` waited for. */
export type TokenWaitCause = 'token_request' | 'other_process' | 'cooldown'

/** What an attacher reports: a request was sent without a token, or with a header that it had already. */
export type TokenAttachmentEvent =
  | {
      /** The origin is not in `allowedOrigins`. */
      readonly type: 'token_withheld'
      readonly origin: string
    }
  | {
      /** The request had a header of that name already, which is not overwritten. */
      readonly type: 'token_skipped'
      readonly origin: string
    }

type TokenEventFacts =
  | {
      readonly type: 'token_requested'
      readonly requestId: number
      readonly reason: TokenRequestReason
      readonly attempt: number
    }
  | {
      readonly type: 'token_received'
      readonly requestId: number
      readonly reason: TokenRequestReason
      readonly attempt: number
      /** `store`: another provider or process had requested it. */
      readonly from: 'endpoint' | 'store'
      readonly durationMs: number
      readonly remainingMs: number
    }
  | {
      readonly type: 'token_failed'
      readonly requestId: number
      readonly reason: TokenRequestReason
      readonly attempt: number
      readonly durationMs: number
      readonly kind: TokenErrorKind
      readonly status?: number | undefined
      readonly oauthError?: string | undefined
      readonly vendorCode?: string | undefined
      /** Set when another attempt follows. */
      readonly retryInMs?: number | undefined
    }
  | {
      /** A call to `getToken` that had to wait, or failed. */
      readonly type: 'call_settled'
      readonly durationMs: number
      /** Absent if the call did not wait. */
      readonly waitedFor?: TokenWaitCause | undefined
      /** The request that it joined. */
      readonly requestId?: number | undefined
      /** Set when the call failed. */
      readonly kind?: TokenErrorKind | undefined
    }
  | {
      readonly type: 'token_rejected'
      readonly remainingMs: number
      /** False when tokens are rejected so often that no further one is requested now. */
      readonly refreshing: boolean
      readonly origin?: string | undefined
    }
  | TokenAttachmentEvent
  | StoreEvent
  | {
      readonly type: 'lifetime_unknown'
      readonly requestId: number
      readonly problem: 'missing' | 'too_long'
      readonly assumedMs: number
    }

/**
 * What a provider reports to its listeners. Times in milliseconds. `requestId` counts the provider's token
 * requests; retries share one. No event holds a secret. Returning a cached token emits no event.
 */
export type TokenEvent = TokenEventFacts & {
  /** The provider's `label`, by default the client ID. */
  readonly label?: string | undefined
  /** The key in the pool whose listeners get the event. */
  readonly key?: string | number | undefined
}

/**
 * Called with every event. For `token_requested`, it may return a function that calls its argument at once: the request is
 * sent inside of it, such as in the context of a span. Any other result is ignored.
 */
export type TokenEventListener = (event: TokenEvent) => unknown

/** What happened during one call, for its event. */
export interface CallRecord {
  /** By the monotonic clock. */
  readonly startedAt: number
  waitedFor?: TokenWaitCause | undefined
  requestId?: number | undefined
}

/** The events of one provider, and their listeners. */
export class TokenEvents {
  readonly #onEvent: TokenEventListener | undefined
  readonly #label: string | undefined
  #listeners: Set<TokenEventListener> | undefined

  constructor(onEvent: TokenEventListener | undefined, label: string | undefined) {
    this.#onEvent = onEvent
    this.#label = label
  }

  subscribe(listener: TokenEventListener): () => void {
    return addListener((this.#listeners ??= new Set()), listener)
  }

  /** Returns the contexts of the listeners: see {@link TokenEventListener}. */
  emit(event: TokenEvent): RunInContext | undefined {
    if (this.#onEvent === undefined && !this.#listeners?.size) return undefined
    const named = this.#label === undefined ? event : { ...event, label: this.#label }
    return notifyListeners([this.#onEvent, ...(this.#listeners ?? [])], named)
  }

  callSettled({ startedAt, waitedFor, requestId }: CallRecord, now: number, kind?: TokenErrorKind): void {
    this.emit({ type: 'call_settled', durationMs: now - startedAt, waitedFor, requestId, kind })
  }

  tokenRejected(token: AccessToken | string, refreshing: boolean, origin?: string): void {
    // The lifetime of a token that is given as text is not known.
    const remainingMs = typeof token === 'string' ? 0 : Math.max(0, remainingLifetimeMs(token))
    this.emit({ type: 'token_rejected', remainingMs, refreshing, ...(origin && { origin }) })
  }
}
