import { acquireToken, sharingOf } from '../acquire/acquire-token.ts'
import { hasValidity, type CachedToken } from '../acquire/cached-token.ts'
import { Cooldown } from '../acquire/cooldown.ts'
import type { ProviderSettings } from '../acquire/provider-options.ts'
import { toTokenError, type AcquireContext, type ProviderContext } from '../acquire/request-with-retries.ts'
import { abortQuietly } from '../runtime/abort.ts'
import { dropsBackgroundWork } from '../runtime/runtime.ts'
import { waitFor } from '../runtime/timers.ts'
import { isNextjsSignal } from '../protocol/nextjs-signal.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenEvent, TokenRequestReason } from '../tokens/token-event.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import {
  PendingTokenRequest,
  stalled,
  timeoutError,
  type PendingTokenRequestOptions,
} from './pending-token-request.ts'
import { emitEvent } from './provider-internals.ts'
import type { CallRecord, TokenDemand } from './token-demand.ts'

/** The cache that the token requests fill. */
export interface TokenCache {
  [emitEvent](event: TokenEvent): void
  /** The cached token if it is sufficient. */
  usableToken(minimumValidityMs: number, replacementOf: AccessToken | undefined): AccessToken | undefined
  /** Whether a token from the store is accepted. */
  accepts(cached: CachedToken, options: PendingTokenRequestOptions): boolean
  /** Why a token is requested now. */
  reason(): TokenRequestReason
  keep(cached: CachedToken): void
}

/** The facts of the error after `close()`. */
export const closedProvider = { kind: 'aborted', message: 'The token provider was closed.' } as const

/** The token requests of one provider: one at a time, none during a cooldown. */
export class TokenRequests {
  readonly #source: TokenSource
  readonly #settings: ProviderSettings
  readonly #cache: TokenCache
  #pending: PendingTokenRequest | undefined
  #cooldown: Cooldown | undefined
  #ignoreStore = false
  #closed = false
  #remainingWork: Promise<unknown> | undefined
  #count = 0

  constructor(source: TokenSource, settings: ProviderSettings, cache: TokenCache) {
    this.#source = source
    this.#settings = settings
    this.#cache = cache
  }

  /** The cached token if it is sufficient, otherwise the result of a request. @throws {TokenError} */
  async findToken(demand: TokenDemand, record: CallRecord): Promise<AccessToken> {
    const { clock, timeoutMs } = this.#settings
    const { signal, minimumValidityMs = 0, replacementOf } = demand
    const deadline = record.startedAt + timeoutMs
    let { forceRefresh: forced = false } = demand
    let requestsBefore = this.#count
    for (;;) {
      signal?.throwIfAborted()
      if (clock.monotonic() >= deadline) throw timeoutError(timeoutMs)
      if (!forced) {
        const token = this.#cache.usableToken(minimumValidityMs, replacementOf)
        if (token) return token
      }
      let { pending } = this
      if (pending === undefined) {
        const delayMs = forced || !this.#cooldown ? 0 : await this.#sitOutCooldown(deadline, signal)
        if (delayMs > 0) record.waitedFor = 'cooldown'
        const reason = forced ? 'forced' : this.#cache.reason()
        // Several callers reach this point together. No await from here on: the request must not lose its last caller.
        pending = this.pending ?? this.#start({ reason, forced, minimumValidityMs, delayMs })
      }
      record.waitedFor ??= 'token_request'
      record.requestId = pending.id
      // It started before this call, or it reads the store, so another one follows once it has settled.
      const outdated = forced && !(pending.forced && pending.id > requestsBefore)
      try {
        const cached = await this.#join(pending, signal, deadline)
        if (outdated) continue
        const isNew = pending.forced || cached.storeId === undefined
        if (isNew || hasValidity(cached, clock, minimumValidityMs)) return cached.token
        // Another process's token, too old for this caller: request one of our own.
        forced = true
        requestsBefore = this.#count
      } catch (error) {
        if (error !== stalled && !outdated) throw error
      } finally {
        if (pending.waitedForOthers) record.waitedFor = 'other_process'
      }
    }
  }

  /** The pending request, unless its runtime has dropped it. */
  get pending(): PendingTokenRequest | undefined {
    if (this.#pending?.isStalled) {
      this.#pending.isAbandoned = true
      this.#abandon(this.#pending)
    }
    return this.#pending
  }

  /** Starts a background refresh unless one is pending or has to wait; returns false if the runtime would drop it. */
  startInBackground(options: PendingTokenRequestOptions): boolean {
    if (this.#settings.waitUntil === undefined && dropsBackgroundWork()) return false
    if (!this.pending && !this.#cooldown?.pausesRefresh()) this.#start({ ...options, background: true })
    return true
  }

  #start(options: PendingTokenRequestOptions): PendingTokenRequest {
    if (this.#closed) throw new TokenError(closedProvider)
    const pending = new PendingTokenRequest(++this.#count, options, this.#settings)
    this.#pending = pending
    pending.result = this.#request(pending, options)
    // Nobody may be waiting; callers that are get the failure from their own `join`.
    this.#keepAlive(pending.result.catch(() => {}))
    return pending
  }

  #join(
    pending: PendingTokenRequest,
    signal: AbortSignal | undefined,
    deadline: number,
  ): Promise<CachedToken> {
    return pending.join(signal, deadline, () => this.#abandon(pending))
  }

  /**
   * Waits during a cooldown that a changed secret may end.
   *
   * @returns how long the next request must wait, in milliseconds
   * @throws {TokenError} during a cooldown that the caller cannot wait for
   */
  async #sitOutCooldown(deadline: number, signal: AbortSignal | undefined): Promise<number> {
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
        return remainingMs
      }
      // Unless a later request has failed in the meantime.
      if (this.#cooldown === cooldown) this.#cooldown = undefined
    }
    return 0
  }

  /** Forgets failures and the pending request, whose callers still get its result; the next one ignores the store. */
  reset(): void {
    this.#cooldown = this.#pending = undefined
    this.#ignoreStore = true
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cooldown = undefined
    const pending = this.#pending
    if (pending) {
      abortQuietly(pending.controller, new TokenError(closedProvider))
      await pending.result.catch(() => {})
    }
    await this.#remainingWork
  }

  /** Removes an entry that an API rejected from the store, if there is one. */
  async removeShared(storeId: string | undefined): Promise<void> {
    const { store } = this.#settings
    if (store && storeId !== undefined) await sharingOf(store).remove(this.#context(), store, storeId)
  }

  #context(): ProviderContext {
    return { source: this.#source, settings: this.#settings, emit: (event) => this.#cache[emitEvent](event) }
  }

  #abandon(pending: PendingTokenRequest): void {
    if (this.#pending === pending) this.#pending = undefined
    abortQuietly(pending.controller)
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
    const { signal } = pending.controller
    const failures = this.#cooldown?.failures ?? 0
    const context: AcquireContext = {
      ...this.#context(),
      signal,
      requestId: pending.id,
      reason: options.reason,
      deadline: clock.monotonic() + timeoutMs,
      forced: pending.forced || this.#ignoreStore,
      failures,
      expectProgress: (ms) => pending.expectProgress(ms),
      onWaitForOthers: () => (pending.waitedForOthers = true),
      afterwards: (work) => {
        this.#remainingWork = Promise.all([this.#remainingWork, work().catch(() => {})]).then(() => {})
        this.#keepAlive(this.#remainingWork)
      },
      accepts: (cached) => this.#cache.accepts(cached, options),
    }
    try {
      const cached = await acquireToken(context, options.delayMs ?? 0)
      const { binding } = context.source
      if (binding) Object.assign(cached.token, { binding })
      signal.throwIfAborted()
      // Otherwise the provider was reset in the meantime.
      if (this.#pending === pending) {
        this.#cache.keep(cached)
        this.#cooldown = undefined
        this.#ignoreStore = false
      }
      return cached
    } catch (error) {
      signal.throwIfAborted()
      if (isNextjsSignal(error)) throw error
      const failure = toTokenError(error)
      if (this.#pending === pending) this.#cooldown = new Cooldown(failure, failures, clock)
      throw failure
    } finally {
      if (this.#pending === pending) this.#pending = undefined
    }
  }
}
