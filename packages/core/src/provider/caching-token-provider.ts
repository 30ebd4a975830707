import { acquireToken } from '../acquire/acquire-token.ts'
import { hasValidity, stateOf, type CachedToken } from '../acquire/cached-token.ts'
import { Cooldown } from '../acquire/cooldown.ts'
import type { ResolvedOptions } from '../acquire/provider-options.ts'
import { toTokenError, type ProviderContext } from '../acquire/request-with-retries.ts'
import { SharedRequest, stalled, timeoutError, type SharedRequestOptions } from '../acquire/shared-request.ts'
import { isNextjsSignal } from '../protocol/nextjs-signal.ts'
import { copyTokenError, isTokenError, TokenError } from '../protocol/token-error.ts'
import { Redacted } from '../runtime/redacted.ts'
import { dropsBackgroundWork } from '../runtime/runtime.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenAttachmentEvent, TokenEventListener, TokenRequestReason } from '../tokens/token-event.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import type {
  AttachableTokenProvider,
  GetTokenToAttachOptions,
  RejectedRequest,
} from './attachable-token-provider.ts'
import { BackgroundWork } from './background-work.ts'
import { lastResort, noDemand, reasonFor, suffices, type Demand } from './demand.ts'
import { RejectionBudget } from './rejection-budget.ts'
import { revokeToken } from './revoke-token.ts'
import { TokenEvents, type CallRecord } from './token-events.ts'
import type { CloseOptions } from './token-provider.ts'

/** The facts of the error after `close()`. */
export const closedProvider = { kind: 'aborted', message: 'The token provider was closed.' } as const
/** Where a runtime may have dropped a request that another incoming request started, callers wait for it this long. */
const foreignRequestMs = 1_000

/** The provider: a cached token, one request at a time for the next one, and a pause after a failure. */
export class CachingTokenProvider extends Redacted implements AttachableTokenProvider {
  readonly #source: TokenSource
  readonly #settings: ResolvedOptions
  readonly #events: TokenEvents
  readonly #work: BackgroundWork
  #cached: CachedToken | undefined
  #request: SharedRequest | undefined
  #cooldown: Cooldown | undefined
  #rejections: RejectionBudget | undefined
  #requests = 0
  #calls = 0
  #ignoreStore = false
  /** Of tokens with more scopes. */
  #wider: CachingTokenProvider | undefined
  #closed = false
  #onIdle: (() => void) | undefined

  constructor(source: TokenSource, settings: ResolvedOptions, key?: string | number) {
    super()
    if (settings.store) source.binding?.checkShareable()
    this.#source = source
    this.#settings = settings
    this.#events = new TokenEvents(source, settings, key)
    this.#work = new BackgroundWork(settings.waitUntil)
  }

  peekToken(): AccessToken | undefined {
    const state = stateOf(this.#cached, this.#settings.clock)
    return state === 'fresh' || state === 'due' ? this.#cached!.token : undefined
  }

  getToken(options: GetTokenToAttachOptions = noDemand): Promise<AccessToken> {
    const cached = this.#cached
    const isReady = options.signal === undefined && stateOf(cached, this.#settings.clock) === 'fresh'
    return isReady && this.#suffices(cached!, options) ? cached!.ready : this.#call(options)
  }

  /** One call: the result of the search, its event, and a rejected token as the last resort. */
  async #call(demand: Demand): Promise<AccessToken> {
    const record: CallRecord = { startedAt: this.#settings.clock.monotonic() }
    const { signal } = demand
    this.#calls++
    try {
      const token = await this.#findToken(demand, record)
      signal?.throwIfAborted()
      if (record.waitedFor) this.#events.callSettled(record)
      return token
    } catch (cause) {
      // A caller may leave while its result is on the way. Callers that share a failure do not share the error.
      const error: unknown = signal?.aborted ? signal.reason : copyTokenError(cause)
      const old = signal?.aborted ? undefined : lastResort(this.#cached, demand, this.#settings.clock)
      const kind = isTokenError(error) ? error.kind : 'aborted'
      if (record.waitedFor || !old) this.#events.callSettled(record, old ? undefined : kind)
      if (old) return old
      throw error
    } finally {
      if (--this.#calls === 0) this.#onIdle?.()
    }
  }

  async #findToken(demand: Demand, record: CallRecord): Promise<AccessToken> {
    const { clock, timeoutMs, waitUntil } = this.#settings
    const { signal, minimumValidityMs = 0 } = demand
    const deadline = record.startedAt + timeoutMs
    let { forceRefresh: forced = false } = demand
    let requestsBefore = this.#requests
    let givenUp: SharedRequest | undefined
    for (;;) {
      signal?.throwIfAborted()
      const leftMs = deadline - clock.monotonic()
      if (leftMs <= 0) throw timeoutError(timeoutMs)
      const cached = this.#cached
      if (!forced && cached && this.#suffices(cached, demand)) {
        const state = stateOf(cached, clock)
        if (state === 'due') this.#startInBackground('refresh_ahead')
        if (state === 'due' || state === 'fresh') return cached.token
      }
      let request = this.#pending
      let until = deadline
      if (request === undefined || request === givenUp) {
        const cooldown = forced ? undefined : this.#cooldown
        const delayMs = cooldown ? await cooldown.sitOut(leftMs, signal) : 0
        // A later request has failed in the meantime.
        if (cooldown && this.#cooldown && cooldown !== this.#cooldown) continue
        if (delayMs > 0) record.waitedFor = 'cooldown'
        // Several callers reach this point together. No await from here on: the request must not lose its last caller.
        request = this.#pending
        if (request === undefined || request === givenUp) {
          const reason = forced ? 'forced' : reasonFor(this.#cached, this.#rejections, clock)
          request = this.#start({ reason, forced, minimumValidityMs, delayMs })
        }
      } else if (waitUntil === undefined && dropsBackgroundWork()) {
        until = Math.min(deadline, clock.monotonic() + foreignRequestMs)
      }
      record.waitedFor ??= 'token_request'
      record.requestId = request.id
      // It started before this call, or it reads the store, so another one follows once it has settled.
      const outdated = forced && !(request.options.forced && request.id > requestsBefore)
      try {
        const found = await request.join(signal, until)
        if (outdated) continue
        // Of this request, which may have outlived a reset, not of the cache.
        const isNew = request.options.forced || found.storeId === undefined
        if (isNew || hasValidity(found, clock, minimumValidityMs)) return found.token
        // Another process's token, too old for this caller: request one of our own.
        forced = true
        requestsBefore = this.#requests
      } catch (error) {
        if (error === stalled) givenUp = request
        else if (!outdated) throw error
      } finally {
        if (request.waitedForOthers) record.waitedFor = 'other_process'
      }
    }
  }

  #suffices(cached: CachedToken, demand: Demand): boolean {
    return suffices(cached, demand, this.#rejections, this.#settings.clock)
  }

  /** The request that callers can join, unless its runtime has dropped it. */
  get #pending(): SharedRequest | undefined {
    return this.#request?.isPending ? this.#request : undefined
  }

  #start(options: SharedRequestOptions): SharedRequest {
    if (this.#closed) throw new TokenError(closedProvider)
    const forced = options.forced || this.#ignoreStore
    const request = new SharedRequest(++this.#requests, { ...options, forced }, this.#settings)
    this.#request = request
    this.#work.keepAlive(request.start(() => this.#acquire(request)))
    return request
  }

  /** Starts a background refresh unless one is pending or has to wait; returns false if the runtime would drop it. */
  #startInBackground(reason: TokenRequestReason): boolean {
    if (this.#settings.waitUntil === undefined && dropsBackgroundWork()) return false
    if (!this.#pending && !this.#cooldown?.pausesRefresh()) this.#start({ reason, background: true })
    return true
  }

  /** Requests a token and caches it, unless the provider was reset in the meantime. */
  async #acquire(request: SharedRequest): Promise<CachedToken> {
    const { signal, options } = request
    const failures = this.#cooldown?.failures ?? 0
    const accepts = (cached: CachedToken): boolean => this.#accepts(cached, options.minimumValidityMs)
    try {
      const cached = await acquireToken(
        { ...this.#context(), request, signal, failures, accepts },
        this.#settings.store,
      )
      const { binding } = this.#source
      if (binding) Object.assign(cached.token, { binding })
      signal.throwIfAborted()
      if (this.#request === request) {
        this.#cached = cached
        this.#cooldown = undefined
        this.#ignoreStore = false
      }
      return cached
    } catch (error) {
      signal.throwIfAborted()
      if (isNextjsSignal(error)) throw error
      const failure = toTokenError(error)
      if (this.#request === request) {
        this.#cooldown = new Cooldown(failure, failures, this.#settings.clock, this.#source)
      }
      throw failure
    }
  }

  #context(): ProviderContext {
    return {
      source: this.#source,
      settings: this.#settings,
      emit: (event) => this.#events.emit(event),
      afterwards: (work) => this.#work.add(work),
    }
  }

  /** Whether a token from the store is accepted: neither a rejected one nor the one that is to be replaced. */
  #accepts(cached: CachedToken, minimumValidityMs = 0): boolean {
    const { value } = cached.token
    const { clock } = this.#settings
    if (this.#rejections?.isRejected(value)) return false
    // Some servers return one token until it expires: then the store may have it with another lifetime.
    if (value === this.#cached?.token.value && stateOf(this.#cached, clock) !== 'expiring') return false
    return hasValidity(cached, clock, minimumValidityMs)
  }

  reject(token: AccessToken): void {
    const cached = this.#cached
    if (cached === undefined) this.#remember(token)
    if (cached?.token.value !== token.value) return
    const refreshing = this.#mayReplace(cached)
    if (refreshing) cached.rejected = true
    this.#events.tokenRejected(token, refreshing)
  }

  async replaceRejected(token: AccessToken, request: RejectedRequest): Promise<AccessToken | undefined> {
    const { attempt, repeatable, signal } = request
    const { origin, pathname } = new URL(request.url)
    if (attempt === 2) {
      this.#budget.pause(origin + pathname, token.value)
      return undefined
    }
    const cached = this.#cached
    if (cached === undefined) this.#remember(token, origin)
    if (cached?.token.value === token.value) {
      const refreshing = this.#mayReplace(cached, origin, origin + pathname)
      if (refreshing && !repeatable) {
        this.#budget.pause(origin + pathname, token.value)
        if (!this.#startInBackground('rejected')) cached.rejected = true
      }
      this.#events.tokenRejected(token, refreshing, origin)
      if (!refreshing) return undefined
    }
    return repeatable ? this.#call({ signal, replacementOf: token }) : undefined
  }

  get #budget(): RejectionBudget {
    return (this.#rejections ??= new RejectionBudget(this.#settings.clock))
  }

  /** A token of the same source that this provider has not cached: the store may still have it. */
  #remember(token: AccessToken, origin?: string): void {
    if (this.#budget.isRejected(token.value)) return
    this.#budget.remember(token.value)
    this.#events.tokenRejected(token, true, origin)
  }

  /** Whether a rejected token may be replaced now. */
  #mayReplace(cached: CachedToken, origin?: string, path?: string): boolean {
    // Its replacement has been requested already.
    if (this.#budget.isRejected(cached.token.value)) return true
    if (!this.#pending && !this.#budget.draw(origin, path)) return false
    this.#budget.remember(cached.token.value)
    void this.#removeStored(cached)
    return true
  }

  /** Removes a token from the store that it came from or was written to. Never fails. */
  async #removeStored({ storeId }: CachedToken): Promise<void> {
    const { store } = this.#settings
    if (store && storeId !== undefined) await store.sharing.remove(this.#context(), store, storeId)
  }

  widen(scopes: readonly string[], url: string): AttachableTokenProvider | undefined {
    const wider = this.#wider
    if (wider && wider.#source.widen?.(scopes) === wider.#source) return wider
    const source = this.#closed ? undefined : this.#source.widen?.(scopes)
    if (source === this.#source) return this
    if (!source || !this.#budget.draw(new URL(url).origin)) return undefined
    void wider?.closeWhenIdle()
    this.#wider = new CachingTokenProvider(source, { ...this.#settings, onEvent: undefined })
    this.#wider.#rejections = this.#budget
    this.#wider.subscribe((event) => this.#events.emit(event))
    return this.#wider
  }

  reset(): void {
    this.#wider?.reset()
    // The callers of the pending request still get its result. The next one ignores the store.
    this.#cached = this.#rejections = this.#cooldown = this.#request = undefined
    this.#ignoreStore = true
  }

  async revoke(): Promise<void> {
    const cached = this.#cached
    if (cached === undefined) return
    this.reset()
    await this.#removeStored(cached)
    await revokeToken(this.#context(), cached.token)
  }

  async close({ revoke = false }: CloseOptions = {}): Promise<void> {
    const cached = this.#cached
    this.#closed = true
    this.#cached = this.#cooldown = undefined
    await this.#wider?.close()
    const request = this.#pending
    if (request) {
      request.cancel(new TokenError(closedProvider))
      await request.settled()
    }
    await this.#work.settled()
    if (revoke && cached && cached.storeId === undefined) await revokeToken(this.#context(), cached.token)
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

  subscribe(listener: TokenEventListener): () => void {
    return this.#events.subscribe(listener)
  }

  report(event: TokenAttachmentEvent): void {
    this.#events.emit(event)
  }
}
