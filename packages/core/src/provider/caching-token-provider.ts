import type { AccessToken } from '../tokens/access-token.ts'
import { elapsedSince } from '../platform/clock.ts'
import { credentialsChanged } from '../tokens/credentials-change.ts'
import { acquireToken } from '../acquire/acquire-token.ts'
import { emitEvent, freshToken, type ProviderInternals } from './provider-internals.ts'
import type { ProviderSettings } from '../acquire/provider-options.ts'
import { Redacted } from '../platform/redacted.ts'
import { RejectionBudget } from './rejection-budget.ts'
import { toTokenError } from '../acquire/request-token.ts'
import { createCooldown, heldError, type Cooldown } from '../acquire/cooldown.ts'
import { removeSharedToken } from '../acquire/acquire-shared-token.ts'
import { TokenError } from '../protocol/token-error.ts'
import {
  notify,
  type TokenEvent,
  type TokenEventListener,
  type TokenRequestReason,
} from '../tokens/token-event.ts'
import { lateError, PendingTokenRequest, type PendingTokenRequestOptions } from './pending-token-request.ts'
import { lasts, type CachedToken } from '../acquire/cached-token.ts'
import type { GetTokenOptions, TokenProvider } from './token-provider.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import { waitFor } from '../platform/timers.ts'

const closed = { kind: 'aborted', message: 'The token provider was closed' } as const

/** The provider: what is at hand, what is under way, and what went wrong. Lean, for pools hold many. */
export class CachingTokenProvider extends Redacted implements TokenProvider, ProviderInternals {
  readonly #source: TokenSource
  readonly #settings: ProviderSettings
  #life: CachedToken | undefined
  #flight: PendingTokenRequest | undefined
  #flights = 0
  #cooldown: Cooldown | undefined
  #rejections: RejectionBudget | undefined
  #rejected = false
  #listeners: Set<TokenEventListener> | undefined
  #closed = false
  #calls = 0
  #onIdle: (() => void) | undefined
  #aftermath: Promise<unknown> | undefined

  constructor(source: TokenSource, settings: ProviderSettings) {
    super()
    this.#source = source
    this.#settings = settings
    if (settings.eager) this.#start({ reason: 'eager', background: true })
  }

  peekToken(): AccessToken | undefined {
    return this.#youngerThan('usableMs')
  }

  getToken(options?: GetTokenOptions): Promise<AccessToken> {
    const life = this.#life
    // The common call: no options, a fresh token. It allocates nothing.
    if (options === undefined && life !== undefined && this.#elapsed(life) < life.freshMs) return life.ready
    return this.#getToken(options)
  }

  async #getToken({ signal, minimumValidityMs = 0, forceRefresh = false }: GetTokenOptions = {}) {
    const { clock, timeoutMs } = this.#settings
    const deadline = clock.monotonic() + timeoutMs
    let flightsBefore = this.#flights
    this.#calls++
    try {
      for (;;) {
        signal?.throwIfAborted()
        const leftMs = deadline - clock.monotonic()
        if (leftMs <= 0) throw lateError(timeoutMs)
        if (!forceRefresh) {
          const token = this.#atHand(minimumValidityMs)
          // A turn later, for a caller that aborts at once.
          if (token && signal) await Promise.resolve().then(() => signal.throwIfAborted())
          if (token) return token
        }
        let flight = this.#flight
        if (flight === undefined) {
          const cooldown = this.#cooldown
          const heldMs = cooldown?.heldMs() ?? 0
          if (cooldown && heldMs > 0) {
            if (await waitFor(credentialsChanged(cooldown.error), leftMs, signal, () => undefined)) {
              if (this.#cooldown === cooldown) this.#cooldown = undefined
              continue
            }
            // Waited for only if it fits the caller's time.
            if (cooldown.error.kind !== 'throttled' || heldMs >= leftMs)
              throw heldError(cooldown.error, heldMs)
          }
          const reason = forceRefresh ? 'forced' : this.#reason()
          const delayMs = Math.max(0, heldMs)
          flight = this.#flight ?? this.#start({ reason, forced: forceRefresh, minimumValidityMs, delayMs })
        }
        if (forceRefresh && !(flight.forced && flight.number > flightsBefore)) {
          // It began before this call, or reads the store's copy: once it has ended, another is asked for.
          await this.#join(flight, signal, deadline).catch(() => {})
          continue
        }
        const life = await this.#join(flight, signal, deadline)
        if (flight.forced || life.storeId === undefined || this.#lasts(life, minimumValidityMs))
          return life.token
        // Another process's token, too old for this caller: ask for one of our own.
        forceRefresh = true
        flightsBefore = this.#flights
      }
    } finally {
      if (--this.#calls === 0) this.#onIdle?.()
    }
  }

  reject(token: AccessToken): void {
    const life = this.#life
    if (life === undefined || life.token.value !== token.value) return
    this.#rejections ??= new RejectionBudget()
    const refreshing = this.#flight !== undefined || this.#rejections.draw(this.#settings.clock)
    if (refreshing) {
      this.#life = undefined
      this.#rejected = true
    }
    const remainingMs = Math.max(0, life.lifetimeMs - this.#elapsed(life))
    this[emitEvent]({ type: 'token_rejected', remainingMs, refreshing })
    if (!refreshing || !this.#settings.store) return
    this.#rejections.remember(token.value)
    if (life.storeId !== undefined) void removeSharedToken(this.#context(), life.storeId)
  }

  on(listener: TokenEventListener): () => void {
    // Wrapped, so that each call has an end of its own even for a listener given twice.
    const own: TokenEventListener = (event) => listener(event)
    const listeners = (this.#listeners ??= new Set())
    listeners.add(own)
    return () => void listeners.delete(own)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#life = this.#cooldown = undefined
    const flight = this.#flight
    flight?.controller.abort(new TokenError(closed))
    await flight?.result.catch(() => {})
    await this.#aftermath
  }

  /** Closes once the last call under way has ended. */
  async closeWhenIdle(): Promise<void> {
    if (this.#calls > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    await this.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  toJSON(): object {
    return { source: this.#source, token: this.#life?.token }
  }

  [freshToken](): AccessToken | undefined {
    return this.#youngerThan('freshMs')
  }

  [emitEvent](event: TokenEvent): void {
    notify(this.#settings.onEvent, event)
    this.#listeners?.forEach((listener) => notify(listener, event))
  }

  #context() {
    const emit = (event: TokenEvent): void => this[emitEvent](event)
    return { source: this.#source, settings: this.#settings, emit }
  }

  #youngerThan(end: 'freshMs' | 'usableMs'): AccessToken | undefined {
    const life = this.#life
    return life !== undefined && this.#elapsed(life) < life[end] ? life.token : undefined
  }

  #elapsed(life: CachedToken): number {
    return elapsedSince(life.start, this.#settings.clock)
  }

  #reason(): TokenRequestReason {
    const life = this.#life
    if (life === undefined) return this.#rejected ? 'rejected' : 'first'
    return this.#elapsed(life) < life.usableMs ? 'minimum_validity' : 'expiring'
  }

  /** The token at hand if it will do; an ageing one is renewed behind its use. */
  #atHand(minimumValidityMs: number): AccessToken | undefined {
    const life = this.#life
    if (life === undefined || !this.#lasts(life, minimumValidityMs)) return undefined
    if (this.#elapsed(life) >= life.freshMs && !this.#flight && !this.#cooldown?.renewalPaused()) {
      this.#start({ reason: 'refresh_ahead', background: true })
    }
    return life.token
  }

  #lasts(life: CachedToken, minimumValidityMs: number): boolean {
    return lasts(life, this.#elapsed(life), minimumValidityMs)
  }

  #join(
    flight: PendingTokenRequest,
    signal: AbortSignal | undefined,
    deadline: number,
  ): Promise<CachedToken> {
    return flight.join(signal, deadline, this.#settings, () => {
      if (this.#flight === flight) this.#flight = undefined
      flight.controller.abort()
    })
  }

  #start(options: PendingTokenRequestOptions): PendingTokenRequest {
    if (this.#closed) throw new TokenError(closed)
    const flight = new PendingTokenRequest(++this.#flights, options)
    this.#flight = flight
    flight.result = this.#fly(flight, options)
    // Nobody may be waiting; whoever is hears of it by joining.
    flight.result.catch(() => {})
    return flight
  }

  async #fly(
    flight: PendingTokenRequest,
    { reason, minimumValidityMs = 0, delayMs = 0 }: PendingTokenRequestOptions,
  ) {
    const { clock, timeoutMs } = this.#settings
    const { number, forced, controller } = flight
    const { signal } = controller
    const plan = {
      ...this.#context(),
      signal,
      number,
      reason,
      deadline: clock.monotonic() + timeoutMs,
      forced,
      afterwards: (work: () => Promise<unknown>) =>
        void (this.#aftermath = Promise.all([this.#aftermath, work().catch(() => {})]).then(() => {})),
      accepts: (life: CachedToken) =>
        !this.#rejections?.includes(life.token.value) &&
        this.#lasts(life, minimumValidityMs) &&
        // Not the very one that is to be renewed.
        (reason !== 'refresh_ahead' || life.token.value !== this.#life?.token.value),
    }
    try {
      const life = await acquireToken(plan, delayMs)
      signal.throwIfAborted()
      this.#life = life
      this.#cooldown = undefined
      return life
    } catch (error) {
      signal.throwIfAborted()
      const failure = toTokenError(error)
      this.#cooldown = createCooldown(failure, this.#cooldown, clock)
      throw failure
    } finally {
      if (this.#flight === flight) this.#flight = undefined
    }
  }
}
