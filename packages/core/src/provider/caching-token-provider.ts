import { acquireToken } from '../acquire/acquire-token.ts'
import { removeSharedToken } from '../acquire/acquire-shared-token.ts'
import { hasValidity, type CachedToken } from '../acquire/cached-token.ts'
import { Cooldown } from '../acquire/cooldown.ts'
import type { ProviderSettings } from '../acquire/provider-options.ts'
import { toTokenError, type AcquireContext } from '../acquire/request-token.ts'
import { abortQuietly } from '../platform/abort.ts'
import { elapsedSince } from '../platform/clock.ts'
import { Redacted } from '../platform/redacted.ts'
import { dropsBackgroundWork } from '../platform/runtime.ts'
import { waitFor } from '../platform/timers.ts'
import { isFrameworkSignal } from '../protocol/framework-signal.ts'
import { isTokenError, TokenError, type TokenErrorKind } from '../protocol/token-error.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import {
  notify,
  type TokenEvent,
  type TokenEventListener,
  type TokenRequestReason,
  type TokenWaitCause,
} from '../tokens/token-event.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import {
  PendingTokenRequest,
  stalled,
  timeoutError,
  type PendingTokenRequestOptions,
} from './pending-token-request.ts'
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
import type { GetTokenOptions, TokenProvider } from './token-provider.ts'

const closed = { kind: 'aborted', message: 'The token provider was closed.' } as const

/** What one call of `getToken` needs. */
interface TokenDemand extends GetTokenOptions {
  /** A token other than this one: an API has rejected it. */
  readonly replacementOf?: AccessToken | undefined
}

/** What one call of `getToken` met with, for its event. */
interface CallRecord {
  readonly startedAt: number
  waitedFor?: TokenWaitCause | undefined
  requestId?: number | undefined
}

/** The provider: the cached token, the pending request, and the last failures. Small, because pools keep many. */
export class CachingTokenProvider extends Redacted implements TokenProvider, ProviderInternals {
  readonly #source: TokenSource
  readonly #settings: ProviderSettings
  readonly #key: string | number | undefined
  #cached: CachedToken | undefined
  #pending: PendingTokenRequest | undefined
  #requests = 0
  #cooldown: Cooldown | undefined
  #rejections: RejectionBudget | undefined
  /** Set by `reset`: the next request ignores the store. */
  #startAnew = false
  #listeners: Set<TokenEventListener> | undefined
  #closed = false
  #calls = 0
  #onIdle: (() => void) | undefined
  #remainingWork: Promise<unknown> | undefined

  constructor(source: TokenSource, settings: ProviderSettings, key?: string | number) {
    super()
    this.#source = source
    this.#settings = settings
    this.#key = key
    if (settings.eager && this.#mayRefreshInBackground()) this.#start({ reason: 'eager', background: true })
  }

  peekToken(): AccessToken | undefined {
    return this.#cached?.rejected ? undefined : this.#youngerThan('expiringAtMs')
  }

  getToken(options?: GetTokenOptions): Promise<AccessToken> {
    const cached = this.#cached
    // The common call: no options, a fresh token. It allocates nothing.
    if (options === undefined && cached !== undefined && this.#elapsed(cached) < cached.refreshAtMs) {
      return cached.ready
    }
    return this.#getToken(options)
  }

  async #getToken(demand: TokenDemand = {}): Promise<AccessToken> {
    const record: CallRecord = { startedAt: this.#settings.clock.monotonic() }
    this.#calls++
    try {
      const token = await this.#findToken(demand, record)
      if (record.waitedFor) this.#reportCall(record)
      return token
    } catch (error) {
      this.#reportCall(record, isTokenError(error) ? error.kind : 'aborted')
      // A token that the program rejected is better than none: the API may accept it again.
      const { signal, forceRefresh, replacementOf } = demand
      const old = this.#youngerThan('expiringAtMs')
      if (
        old &&
        this.#cached?.rejected &&
        !this.#closed &&
        !signal?.aborted &&
        !forceRefresh &&
        !replacementOf
      )
        return old
      throw error
    } finally {
      if (--this.#calls === 0) this.#onIdle?.()
    }
  }

  async #findToken(demand: TokenDemand, record: CallRecord): Promise<AccessToken> {
    const { clock, timeoutMs } = this.#settings
    const { signal, minimumValidityMs = 0, replacementOf } = demand
    let { forceRefresh = false } = demand
    const deadline = record.startedAt + timeoutMs
    let requestsBefore = this.#requests
    for (;;) {
      signal?.throwIfAborted()
      if (clock.monotonic() >= deadline) throw timeoutError(timeoutMs)
      if (!forceRefresh) {
        const token = this.#usableToken(minimumValidityMs, replacementOf)
        // One turn later, for a caller that aborts at once.
        if (token && signal) await Promise.resolve().then(() => signal.throwIfAborted())
        if (token) return token
      }
      let pending = this.#livePending()
      if (pending === undefined) {
        const free = forceRefresh || this.#cooldown === undefined
        const delayMs = free ? 0 : await this.#sitOutCooldown(deadline, signal, record)
        const reason = forceRefresh ? 'forced' : this.#reason()
        // Several callers come here together. No await from here on: the request must not lose its last caller.
        pending =
          this.#livePending() ?? this.#start({ reason, forced: forceRefresh, minimumValidityMs, delayMs })
      }
      record.waitedFor ??= 'token_request'
      record.requestId = pending.id
      // It started before this call, or it reads the store: once it has settled, another is started.
      const outdated = forceRefresh && !(pending.forced && pending.id > requestsBefore)
      try {
        const cached = await this.#join(pending, signal, deadline)
        if (outdated) continue
        if (pending.forced || cached.storeId === undefined || this.#hasValidity(cached, minimumValidityMs)) {
          return cached.token
        }
        // Another process's token, too old for this caller: request one of our own.
        forceRefresh = true
        requestsBefore = this.#requests
      } catch (error) {
        signal?.throwIfAborted()
        if (error !== stalled && !outdated) throw error
      } finally {
        if (pending.waitedForOthers) record.waitedFor = 'other_process'
      }
    }
  }

  /** The pending request, unless its runtime has dropped it. */
  #livePending(): PendingTokenRequest | undefined {
    const pending = this.#pending
    if (pending?.isStalled) this.#abandon(pending)
    return this.#pending
  }

  /**
   * @returns how long the next request must wait, in milliseconds
   * @throws {TokenError} during a cooldown that the caller cannot wait for
   */
  async #sitOutCooldown(
    deadline: number,
    signal: AbortSignal | undefined,
    record: CallRecord,
  ): Promise<number> {
    for (let cooldown = this.#cooldown; cooldown; cooldown = this.#cooldown) {
      if (cooldown.remainingMs() <= 0) return 0
      const leftMs = deadline - this.#settings.clock.monotonic()
      const changed = await waitFor(cooldown.credentialsChanged(), leftMs, signal, () => undefined)
      signal?.throwIfAborted()
      if (!changed) {
        const remainingMs = cooldown.remainingMs()
        if (remainingMs <= 0) return 0
        // Waited for only if it fits into the caller's time.
        if (cooldown.error.kind !== 'throttled' || remainingMs >= leftMs) throw cooldown.currentError()
        record.waitedFor = 'cooldown'
        return remainingMs
      }
      // Unless a later request has failed meanwhile.
      if (this.#cooldown === cooldown) this.#cooldown = undefined
    }
    return 0
  }

  reject(token: AccessToken): void {
    const cached = this.#cached
    if (cached?.token.value !== token.value) return
    const refreshing = this.#mayReplace(cached)
    if (refreshing) markRejected(cached)
    this.#reportRejection(cached, refreshing)
  }

  [rejectForRequest](token: AccessToken, request: RejectedRequest): Promise<AccessToken> | undefined {
    const cached = this.#cached
    if (cached?.token.value === token.value) {
      const refreshing = this.#mayReplace(cached, request)
      if (refreshing && !request.repeatable) this.#replaceInBackground(cached)
      this.#reportRejection(cached, refreshing, request.origin)
      if (!refreshing) return undefined
    }
    return request.repeatable ? this.#getToken({ signal: request.signal, replacementOf: token }) : undefined
  }

  [tokenForSingleUse](signal: AbortSignal | undefined): Promise<AccessToken> {
    const cached = this.#cached
    if (!cached || !this.#rejections?.isRejected(cached.token.value))
      return this.getToken(signal && { signal })
    return this.#getToken({ signal, replacementOf: cached.token }).catch((error: unknown) => {
      // No replacement is available: the rejected token may be accepted by another API.
      signal?.throwIfAborted()
      const old = this.#youngerThan('expiringAtMs')
      if (old) return old
      throw error
    })
  }

  [acceptReplacement](resource: string): void {
    this.#rejections?.accepted(resource)
  }

  reset(): void {
    // Callers that wait already get the result of their request; it is not cached.
    this.#cached = this.#cooldown = this.#rejections = this.#pending = undefined
    this.#startAnew = this.#settings.store !== undefined
  }

  on(listener: TokenEventListener): () => void {
    // Wrapped, so that a listener that is passed twice can be removed once.
    const own: TokenEventListener = (event) => listener(event)
    const listeners = (this.#listeners ??= new Set())
    listeners.add(own)
    return () => void listeners.delete(own)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cached = this.#cooldown = undefined
    const pending = this.#pending
    if (pending) {
      abortQuietly(pending.controller, new TokenError(closed))
      await pending.result.catch(() => {})
    }
    await this.#remainingWork
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
    const token = this.#youngerThan('refreshAtMs')
    return singleUse && token && this.#rejections?.isRejected(token.value) ? undefined : token
  }

  [emitEvent](event: TokenEvent): void {
    const { onEvent, label = this.#source.label } = this.#settings
    if (onEvent === undefined && !this.#listeners?.size) return
    const named = {
      ...event,
      ...(label !== undefined && { label }),
      ...(this.#key !== undefined && { key: this.#key }),
    }
    notify(onEvent, named)
    this.#listeners?.forEach((listener) => notify(listener, named))
  }

  #reportCall({ startedAt, waitedFor, requestId }: CallRecord, kind?: TokenErrorKind): void {
    const durationMs = this.#settings.clock.monotonic() - startedAt
    this[emitEvent]({ type: 'call_settled', durationMs, waitedFor, requestId, kind })
  }

  #context() {
    const emit = (event: TokenEvent): void => this[emitEvent](event)
    return { source: this.#source, settings: this.#settings, emit }
  }

  #youngerThan(end: 'refreshAtMs' | 'expiringAtMs'): AccessToken | undefined {
    const cached = this.#cached
    return cached !== undefined && this.#elapsed(cached) < cached[end] ? cached.token : undefined
  }

  #elapsed(cached: CachedToken): number {
    return elapsedSince(cached.start, this.#settings.clock)
  }

  #hasValidity(cached: CachedToken, minimumValidityMs: number): boolean {
    return hasValidity(cached, this.#elapsed(cached), minimumValidityMs)
  }

  #reason(): TokenRequestReason {
    const cached = this.#cached
    if (cached === undefined) return 'first'
    if (this.#elapsed(cached) >= cached.expiringAtMs) return 'expiring'
    return this.#rejections?.isRejected(cached.token.value) ? 'rejected' : 'minimum_validity'
  }

  /** The cached token if it is sufficient; one that is due for refresh is refreshed in the background. */
  #usableToken(minimumValidityMs: number, replacementOf: AccessToken | undefined): AccessToken | undefined {
    const cached = this.#cached
    if (cached === undefined || cached.rejected || !this.#hasValidity(cached, minimumValidityMs))
      return undefined
    if (cached.token.value === replacementOf?.value) return undefined
    const due = this.#elapsed(cached) >= cached.refreshAtMs
    if (due && !this.#livePending() && !this.#cooldown?.pausesRefresh() && this.#mayRefreshInBackground()) {
      this.#start({ reason: 'refresh_ahead', background: true })
    }
    return cached.token
  }

  #mayRefreshInBackground(): boolean {
    return this.#settings.waitUntil !== undefined || !dropsBackgroundWork()
  }

  /** Whether a rejected token may be replaced now. */
  #mayReplace(cached: CachedToken, { origin = '', resource }: Partial<RejectedRequest> = {}): boolean {
    const { value } = cached.token
    const rejections = (this.#rejections ??= new RejectionBudget(this.#settings.clock))
    // Its replacement has been requested already.
    if (rejections.isRejected(value)) return true
    if (!this.#livePending() && !rejections.draw(origin, resource)) return false
    rejections.remember(value)
    if (cached.storeId !== undefined) void removeSharedToken(this.#context(), cached.storeId)
    return true
  }

  #replaceInBackground(cached: CachedToken): void {
    if (this.#livePending() || this.#cooldown?.pausesRefresh()) return
    if (this.#mayRefreshInBackground()) this.#start({ reason: 'rejected', background: true })
    else markRejected(cached)
  }

  #reportRejection(cached: CachedToken, refreshing: boolean, origin?: string): void {
    const remainingMs = Math.max(0, cached.lifetimeMs - this.#elapsed(cached))
    this[emitEvent]({ type: 'token_rejected', remainingMs, refreshing, ...(origin && { origin }) })
  }

  #join(
    pending: PendingTokenRequest,
    signal: AbortSignal | undefined,
    deadline: number,
  ): Promise<CachedToken> {
    return pending.join(signal, deadline, () => this.#abandon(pending))
  }

  #abandon(pending: PendingTokenRequest): void {
    if (this.#pending === pending) this.#pending = undefined
    abortQuietly(pending.controller)
  }

  #start(options: PendingTokenRequestOptions): PendingTokenRequest {
    if (this.#closed) throw new TokenError(closed)
    const pending = new PendingTokenRequest(++this.#requests, options, this.#settings)
    this.#pending = pending
    pending.result = this.#request(pending, options)
    // Nobody may be waiting; callers that are learn of the failure by joining.
    this.#keepAlive(pending.result.catch(() => {}))
    return pending
  }

  #keepAlive(work: Promise<unknown>): void {
    try {
      this.#settings.waitUntil?.(work)
    } catch {
      // Called outside a request: nothing has to be kept alive.
    }
  }

  async #request(pending: PendingTokenRequest, options: PendingTokenRequestOptions): Promise<CachedToken> {
    const { clock, timeoutMs } = this.#settings
    const { reason, minimumValidityMs = 0, delayMs = 0 } = options
    const { signal } = pending.controller
    const context: AcquireContext = {
      ...this.#context(),
      signal,
      requestId: pending.id,
      reason,
      deadline: clock.monotonic() + timeoutMs,
      forced: pending.forced || this.#startAnew,
      failures: this.#cooldown?.failures ?? 0,
      expectProgress: (ms) => pending.expectProgress(ms),
      onWaitForOthers: () => (pending.waitedForOthers = true),
      afterwards: (work) => {
        this.#remainingWork = Promise.all([this.#remainingWork, work().catch(() => {})]).then(() => {})
        this.#keepAlive(this.#remainingWork)
      },
      accepts: (cached) =>
        !this.#rejections?.isRejected(cached.token.value) &&
        this.#hasValidity(cached, minimumValidityMs) &&
        // Not the very token that is to be refreshed.
        (reason !== 'refresh_ahead' || cached.token.value !== this.#cached?.token.value),
    }
    try {
      const cached = await acquireToken(context, delayMs)
      signal.throwIfAborted()
      // Otherwise the provider was reset meanwhile.
      if (this.#pending === pending) {
        this.#cached = cached
        this.#cooldown = undefined
        this.#startAnew = false
      }
      return cached
    } catch (error) {
      signal.throwIfAborted()
      if (isFrameworkSignal(error)) throw error
      const failure = toTokenError(error)
      if (this.#pending === pending) this.#cooldown = new Cooldown(failure, context.failures, clock)
      throw failure
    } finally {
      if (this.#pending === pending) this.#pending = undefined
    }
  }
}

/** Other callers wait for the replacement as well. */
function markRejected(cached: CachedToken): void {
  cached.rejected = true
  cached.refreshAtMs = 0
}
