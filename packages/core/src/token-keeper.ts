import type { AccessToken } from './access-token.ts'
import { elapsedSince } from './clock.ts'
import { credentialsChanged } from './credentials-changed.ts'
import { obtainToken } from './obtain-token.ts'
import { emitEvent, freshToken, type ProviderInternals } from './provider-internals.ts'
import type { ProviderSettings } from './provider-settings.ts'
import { Redacted } from './redacted.ts'
import { Refusals } from './refusals.ts'
import { toTokenError } from './request-token.ts'
import { createSetbacks, heldError, type Setbacks } from './setbacks.ts'
import { removeSharedToken } from './shared-token.ts'
import { TokenError } from './token-error.ts'
import { notify, type TokenEvent, type TokenEventListener, type TokenRequestReason } from './token-event.ts'
import { lateError, TokenFlight, type FlightOptions } from './token-flight.ts'
import { lasts, type TokenLife } from './token-life.ts'
import type { GetTokenOptions, TokenProvider } from './token-provider.ts'
import type { TokenSource } from './token-source.ts'
import { waitFor } from './wait.ts'

const closed = { kind: 'aborted', message: 'The token provider was closed' } as const

/** The provider: what is at hand, what is under way, and what went wrong. Lean, for pools hold many. */
export class TokenKeeper extends Redacted implements TokenProvider, ProviderInternals {
  readonly #source: TokenSource
  readonly #settings: ProviderSettings
  #life: TokenLife | undefined
  #flight: TokenFlight | undefined
  #flights = 0
  #setbacks: Setbacks | undefined
  #refusals: Refusals | undefined
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
          const setbacks = this.#setbacks
          const heldMs = setbacks?.heldMs() ?? 0
          if (setbacks && heldMs > 0) {
            if (await waitFor(credentialsChanged(setbacks.error), leftMs, signal, () => undefined)) {
              if (this.#setbacks === setbacks) this.#setbacks = undefined
              continue
            }
            // Waited for only if it fits the caller's time.
            if (setbacks.error.kind !== 'throttled' || heldMs >= leftMs)
              throw heldError(setbacks.error, heldMs)
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
    this.#refusals ??= new Refusals()
    const renewing = this.#flight !== undefined || this.#refusals.draw(this.#settings.clock)
    if (renewing) {
      this.#life = undefined
      this.#rejected = true
    }
    const remainingMs = Math.max(0, life.lifetimeMs - this.#elapsed(life))
    this[emitEvent]({ type: 'token_rejected', remainingMs, renewing })
    if (!renewing || !this.#settings.store) return
    this.#refusals.remember(token.value)
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
    this.#life = this.#setbacks = undefined
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

  #elapsed(life: TokenLife): number {
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
    if (this.#elapsed(life) >= life.freshMs && !this.#flight && !this.#setbacks?.renewalPaused()) {
      this.#start({ reason: 'ageing', background: true })
    }
    return life.token
  }

  #lasts(life: TokenLife, minimumValidityMs: number): boolean {
    return lasts(life, this.#elapsed(life), minimumValidityMs)
  }

  #join(flight: TokenFlight, signal: AbortSignal | undefined, deadline: number): Promise<TokenLife> {
    return flight.join(signal, deadline, this.#settings, () => {
      if (this.#flight === flight) this.#flight = undefined
      flight.controller.abort()
    })
  }

  #start(options: FlightOptions): TokenFlight {
    if (this.#closed) throw new TokenError(closed)
    const flight = new TokenFlight(++this.#flights, options)
    this.#flight = flight
    flight.result = this.#fly(flight, options)
    // Nobody may be waiting; whoever is hears of it by joining.
    flight.result.catch(() => {})
    return flight
  }

  async #fly(flight: TokenFlight, { reason, minimumValidityMs = 0, delayMs = 0 }: FlightOptions) {
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
      accepts: (life: TokenLife) =>
        !this.#refusals?.includes(life.token.value) &&
        this.#lasts(life, minimumValidityMs) &&
        // Not the very one that is to be renewed.
        (reason !== 'ageing' || life.token.value !== this.#life?.token.value),
    }
    try {
      const life = await obtainToken(plan, delayMs)
      signal.throwIfAborted()
      this.#life = life
      this.#setbacks = undefined
      return life
    } catch (error) {
      signal.throwIfAborted()
      const failure = toTokenError(error)
      this.#setbacks = createSetbacks(failure, this.#setbacks, clock)
      throw failure
    } finally {
      if (this.#flight === flight) this.#flight = undefined
    }
  }
}
