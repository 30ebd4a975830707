import { hasValidity, isFresh, type CachedToken } from '../acquire/cached-token.ts'
import type { ProviderSettings } from '../acquire/provider-options.ts'
import { elapsedSince } from '../runtime/clock.ts'
import { addListener, notifyListener } from '../runtime/listeners.ts'
import { Redacted } from '../runtime/redacted.ts'
import { isTokenError, type TokenErrorKind } from '../protocol/token-error.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenEvent, TokenEventListener, TokenRequestReason } from '../tokens/token-event.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import { sameMomentMs, type PendingTokenRequestOptions } from './pending-token-request.ts'
import {
  acceptReplacement,
  emitEvent,
  freshToken,
  rejectForRequest,
  tokenForSingleUse,
  type ProviderInternals,
  type RejectedRequest,
} from './provider-internals.ts'
import { RejectionBudget } from './rejection-budget.ts'
import type { CallRecord, TokenDemand } from './token-demand.ts'
import type { GetTokenOptions, TokenProvider } from './token-provider.ts'
import { TokenRequests, type TokenCache } from './token-requests.ts'

/** The provider: a cached token, its rejections by APIs, and the requests for the next one. */
export class CachingTokenProvider extends Redacted implements TokenProvider, ProviderInternals, TokenCache {
  readonly #source: TokenSource
  readonly #settings: ProviderSettings
  readonly #key: string | number | undefined
  readonly #requests: TokenRequests
  #cached: CachedToken | undefined
  #rejections: RejectionBudget | undefined
  #listeners: Set<TokenEventListener> | undefined
  #calls = 0
  #shared: CallRecord | undefined
  #onIdle: (() => void) | undefined

  constructor(source: TokenSource, settings: ProviderSettings, key?: string | number) {
    super()
    if (settings.store) source.binding?.checkShareable()
    this.#source = source
    this.#settings = settings
    this.#key = key
    this.#requests = new TokenRequests(source, settings, this)
    if (settings.eager) this.#requests.startInBackground({ reason: 'eager' })
  }

  peekToken(): AccessToken | undefined {
    const cached = this.#cached
    if (cached === undefined || cached.rejected) return undefined
    return isFresh(cached, this.#settings.clock) ? cached.token : this.#usable()
  }

  getToken(options?: GetTokenOptions): Promise<AccessToken> {
    if (options !== undefined) return this.#getToken(options)
    const cached = this.#cached
    // The common call allocates nothing.
    return cached !== undefined && isFresh(cached, this.#settings.clock) ? cached.ready : this.#shareCall()
  }

  /**
   * Callers that arrive in the same moment wait for the same token until the same time, so they share one call, in a quarter
   * of the time; but not if somebody listens: each event belongs to one caller and comes in its asynchronous context.
   */
  #shareCall(): Promise<AccessToken> {
    if (this.#hasListeners) return this.#getToken({})
    const startedAt = this.#settings.clock.monotonic()
    const shared = this.#shared
    if (shared && Math.abs(startedAt - shared.startedAt) < sameMomentMs) return shared.result!
    const record: CallRecord = { startedAt }
    record.result = this.#getToken({}, record)
    // Not before: `waitUntil` may call `getToken`.
    this.#shared = record
    return record.result
  }

  async #getToken(
    demand: TokenDemand,
    record: CallRecord = { startedAt: this.#settings.clock.monotonic() },
  ): Promise<AccessToken> {
    this.#calls++
    try {
      const token = await this.#requests.findToken(demand, record)
      demand.signal?.throwIfAborted()
      if (record.waitedFor) this.#reportCall(record)
      return token
    } catch (cause) {
      const { signal, forceRefresh, replacementOf, singleUse } = demand
      // A caller may leave while its result is on the way.
      const error: unknown = signal?.aborted ? signal.reason : cause
      // A rejected token is better than none: an API may accept it.
      const mayFallBack = singleUse || (this.#cached?.rejected && !forceRefresh && !replacementOf)
      const old = mayFallBack && !signal?.aborted ? this.#usable() : undefined
      const kind = isTokenError(error) ? error.kind : 'aborted'
      if (record.waitedFor || !old) this.#reportCall(record, old ? undefined : kind)
      if (old) return old
      throw error
    } finally {
      if (this.#shared === record) this.#shared = undefined
      if (--this.#calls === 0) this.#onIdle?.()
    }
  }

  reject(token: AccessToken): void {
    const cached = this.#cached
    if (cached?.token.value !== token.value) return
    const refreshing = this.#mayReplace(cached)
    if (refreshing) this.#markRejected(cached)
    this.#reportRejection(cached, refreshing)
  }

  [rejectForRequest](token: AccessToken, request: RejectedRequest): Promise<AccessToken> | undefined {
    const cached = this.#cached
    const { origin, repeatable, signal } = request
    if (cached?.token.value === token.value) {
      const refreshing = this.#mayReplace(cached, request)
      if (refreshing && !repeatable && !this.#requests.startInBackground({ reason: 'rejected' })) {
        this.#markRejected(cached)
      }
      this.#reportRejection(cached, refreshing, origin)
      if (!refreshing) return undefined
    }
    return repeatable ? this.#getToken({ signal, replacementOf: token }) : undefined
  }

  [tokenForSingleUse](signal: AbortSignal | undefined): Promise<AccessToken> {
    const cached = this.#cached
    if (!cached || !this.#rejections?.isRejected(cached.token.value)) return this.#getToken({ signal })
    return this.#getToken({ signal, replacementOf: cached.token, singleUse: true })
  }

  [acceptReplacement](resource: string): void {
    this.#rejections?.accepted(resource)
  }

  reset(): void {
    this.#cached = this.#rejections = this.#shared = undefined
    this.#requests.reset()
  }

  on(listener: TokenEventListener): () => void {
    return addListener((this.#listeners ??= new Set()), listener)
  }

  async close(): Promise<void> {
    this.#cached = this.#shared = undefined
    await this.#requests.close()
  }

  /** Closes once the last running call has settled. */
  async closeWhenIdle(): Promise<void> {
    if (this.#calls > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    await this.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  toJSON(): object {
    return { source: this.#source, token: this.#cached?.token }
  }

  [freshToken](singleUse: boolean): AccessToken | undefined {
    const cached = this.#cached
    if (cached === undefined || !isFresh(cached, this.#settings.clock)) return undefined
    return singleUse && this.#rejections?.isRejected(cached.token.value) ? undefined : cached.token
  }

  accepts(cached: CachedToken, { minimumValidityMs = 0 }: PendingTokenRequestOptions): boolean {
    if (this.#rejections?.isRejected(cached.token.value)) return false
    // Not the token that is to be replaced.
    if (cached.token.value === this.#cached?.token.value) return false
    return hasValidity(cached, this.#settings.clock, minimumValidityMs)
  }

  keep(cached: CachedToken): void {
    this.#cached = cached
  }

  get #hasListeners(): boolean {
    return this.#settings.onEvent !== undefined || !!this.#listeners?.size
  }

  [emitEvent](event: TokenEvent): void {
    const { onEvent, label = this.#source.label } = this.#settings
    if (!this.#hasListeners) return
    const named = {
      ...event,
      ...(label !== undefined && { label }),
      ...(this.#key !== undefined && { key: this.#key }),
    }
    void notifyListener(onEvent, named)
    this.#listeners?.forEach((listener) => void notifyListener(listener, named))
  }

  #reportCall({ startedAt, waitedFor, requestId }: CallRecord, kind?: TokenErrorKind): void {
    const durationMs = this.#settings.clock.monotonic() - startedAt
    this[emitEvent]({ type: 'call_settled', durationMs, waitedFor, requestId, kind })
  }

  #reportRejection(cached: CachedToken, refreshing: boolean, origin?: string): void {
    const remainingMs = Math.max(0, cached.lifetimeMs - this.#elapsed(cached))
    this[emitEvent]({ type: 'token_rejected', remainingMs, refreshing, ...(origin && { origin }) })
  }

  /** The cached token until it is expiring, even if it was rejected. */
  #usable(): AccessToken | undefined {
    const cached = this.#cached
    return cached !== undefined && this.#elapsed(cached) < cached.expiringAtMs ? cached.token : undefined
  }

  #elapsed(cached: CachedToken): number {
    return elapsedSince(cached.start, this.#settings.clock)
  }

  reason(): TokenRequestReason {
    const cached = this.#cached
    if (cached === undefined) return 'first'
    if (this.#elapsed(cached) >= cached.expiringAtMs) return 'expiring'
    return this.#rejections?.isRejected(cached.token.value) ? 'rejected' : 'minimum_validity'
  }

  /** The cached token if it is sufficient; one that is due for refresh is refreshed in the background. */
  usableToken(minimumValidityMs: number, replacementOf: AccessToken | undefined): AccessToken | undefined {
    const cached = this.#cached
    if (
      cached === undefined ||
      cached.rejected ||
      !hasValidity(cached, this.#settings.clock, minimumValidityMs)
    )
      return undefined
    if (cached.token.value === replacementOf?.value) return undefined
    if (this.#elapsed(cached) >= cached.refreshAtMs)
      this.#requests.startInBackground({ reason: 'refresh_ahead' })
    return cached.token
  }

  /** Whether a rejected token may be replaced now. */
  #mayReplace(cached: CachedToken, { origin, resource }: Partial<RejectedRequest> = {}): boolean {
    const { value } = cached.token
    const rejections = (this.#rejections ??= new RejectionBudget(this.#settings.clock))
    // Its replacement has been requested already.
    if (rejections.isRejected(value)) return true
    if (!this.#requests.pending && !rejections.draw(origin, resource)) return false
    rejections.remember(value)
    void this.#requests.removeShared(cached.storeId)
    return true
  }

  /** Other callers wait for the replacement as well. */
  #markRejected(cached: CachedToken): void {
    cached.rejected = true
    cached.refreshAtMs = 0
    cached.checkedAt = Number.NEGATIVE_INFINITY
    // It may be about to return this token.
    this.#shared = undefined
  }
}
