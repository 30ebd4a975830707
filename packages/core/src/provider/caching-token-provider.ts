import { configurationError, copyTokenError, isTokenError, TokenError } from '../protocol/token-error.ts'
import { isSentBy, markOwnRequest } from '../runtime/own-request.ts'
import { Redacted } from '../runtime/redacted.ts'
import { waitFor } from '../runtime/wait.ts'
import type { SharingAlgorithm } from '../sharing/token-sharing.ts'
import type { ApiChallenge, TokenSource } from '../protocol/token-source.ts'
import type { AccessToken } from './access-token.ts'
import { BackgroundWork } from './background-work.ts'
import { Cooldown } from './cooldown.ts'
import {
  TokenEvents,
  type CallRecord,
  type TokenAttachmentEvent,
  type TokenEvent,
  type TokenEventListener,
  type TokenRequestReason,
} from './events.ts'
import {
  PendingRequest,
  stalled,
  timeoutError,
  unresponsiveError,
  type PendingRequestOptions,
  type ProviderContext,
} from './pending-request.ts'
import { RefreshBudget } from './refresh-budget.ts'
import { hasValidity, stateOf, type CachedToken } from './token-lifetime.ts'
import {
  resolveSettings,
  type CloseOptions,
  type GetTokenOptions,
  type ProviderSettings,
  type RejectedRequest,
  type TokenProvider,
  type TokenProviderOptions,
} from './token-provider.ts'

/**
 * Keeps a valid token ready: shares one request between all callers, refreshes the token ahead of time, and
 * never returns a token that is about to expire. For a source of your own: `clientCredentials` and the like return a provider.
 *
 * @example
 * const tokens = createTokenProvider({ requestToken: () => legacyLogin(), cacheKey: async () => 'legacy' })
 * const { value } = await tokens.getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createTokenProvider(source: TokenSource, options: TokenProviderOptions = {}): TokenProvider {
  if (typeof source?.requestToken !== 'function') {
    throw configurationError(
      'requestToken is missing: createTokenProvider takes a source of your own. clientCredentials({ … }) and backendTokens({ … }) ' +
        'return a provider already: pass the options to them.',
    )
  }
  return new CachingTokenProvider(source, resolveSettings(options))
}

/** The facts of the error after `close()`. */
export const closedProvider = { kind: 'aborted', message: 'The token provider was closed.' } as const

/** The tokens of one source: the cached one, the request for the next one, and the pause after a failure. */
interface Slot {
  readonly source: TokenSource
  cached?: CachedToken | undefined
  request?: PendingRequest | undefined
  cooldown?: Cooldown | undefined
  /** After a reset, the next request ignores the token in the store. */
  ignoresStore?: boolean | undefined
}

interface HeldToken {
  readonly source: TokenSource
  readonly cached: CachedToken
}

/** What one call requires. */
interface Demand extends GetTokenOptions {
  /** A token other than this one: an API has rejected it. */
  readonly replacementOf?: AccessToken | undefined
  /** What that API responded. */
  readonly challenge?: ApiChallenge | undefined
}

const noDemand: Demand = {}

/** The provider: a cached token, one request at a time for the next one, and a pause after a failure. */
class CachingTokenProvider extends Redacted implements TokenProvider {
  readonly #settings: ProviderSettings
  readonly #context: ProviderContext
  /** The slot whose token calls get. */
  #slot: Slot
  readonly #main: Slot
  /** The slot whose token also has the scopes that an API required (step-up). */
  #stepUp: Slot | undefined
  /** The requests that have not settled, including those from before a reset. */
  readonly #pending = new Set<PendingRequest>()
  #requests = 0
  #calls = 0
  #closed = false
  /** Resumes those who wait until no call is pending. */
  readonly #onIdle: (() => void)[] = []
  /** Absent for most sources, so that attaching a token costs nothing for it. */
  declare readonly sendFirst?: NonNullable<TokenProvider['sendFirst']>

  constructor(source: TokenSource, settings: ProviderSettings) {
    super()
    if (settings.store) source.binding?.checkShareable()
    this.#settings = settings
    this.#context = {
      settings,
      events: new TokenEvents(settings.onEvent, settings.label ?? source.label),
      work: new BackgroundWork(settings.waitUntil),
      budget: new RefreshBudget(settings.clock),
    }
    this.#slot = this.#main = { source }
    // With a store, another process may have a token: the source asks for itself when it needs to.
    if (source.sendFirst && !settings.store) this.sendFirst = (request) => source.sendFirst!(request)
  }

  getToken(options: GetTokenOptions = noDemand): Promise<AccessToken> {
    const { cached } = this.#slot
    const isReady = options.signal === undefined && stateOf(cached, this.#settings.clock) === 'fresh'
    if (isReady && this.#suffices(cached!, options)) return cached!.ready
    if (isSentBy(this.#context, options.signal)) return Promise.reject(ownRequestError())
    return this.#callFor(this.#slot, options)
  }

  peekToken(): AccessToken | undefined {
    const { cached } = this.#slot
    const state = stateOf(cached, this.#settings.clock)
    return state === 'fresh' || state === 'due' ? cached!.token : undefined
  }

  /** One call: the result of the search, its event, and a rejected token as the last resort. */
  async #call(
    slot: Slot,
    demand: Demand,
    startedAt = this.#settings.clock.monotonic(),
  ): Promise<AccessToken> {
    const { clock } = this.#settings
    const { events } = this.#context
    const record: CallRecord = { startedAt }
    const { signal } = demand
    this.#calls++
    try {
      const token = await this.#findToken(slot, demand, record)
      signal?.throwIfAborted()
      if (record.waitedFor) events.callSettled(record, clock.monotonic())
      return token
    } catch (cause) {
      // A caller may leave while its result is on the way. Callers that share a failure do not share the error.
      const error: unknown = signal?.aborted ? signal.reason : copyTokenError(cause)
      const old = signal?.aborted ? undefined : this.#lastResort(slot.cached, demand)
      const kind = isTokenError(error) ? error.kind : 'aborted'
      if (record.waitedFor || !old) events.callSettled(record, clock.monotonic(), old ? undefined : kind)
      if (old) return old
      throw error
    } finally {
      if (--this.#calls === 0) for (const resume of this.#onIdle.splice(0)) resume()
    }
  }

  async #findToken(slot: Slot, demand: Demand, record: CallRecord): Promise<AccessToken> {
    const { clock, timeoutMs } = this.#settings
    const { signal, forceRefresh: forced = false, minimumValidityMs = 0, challenge } = demand
    const deadline = record.startedAt + timeoutMs
    const requestsBefore = this.#requests
    let givenUp: PendingRequest | undefined
    for (;;) {
      signal?.throwIfAborted()
      const leftMs = deadline - clock.monotonic()
      if (leftMs <= 0) throw timeoutError(timeoutMs)
      const { cached } = slot
      if (!forced && cached && this.#suffices(cached, demand)) {
        const state = stateOf(cached, clock)
        if (state === 'due') this.#refresh(slot, 'refresh_ahead')
        if (state === 'due' || state === 'fresh') return cached.token
      }
      let request = pendingRequestOf(slot, givenUp)
      let until = deadline
      if (request) until = Math.min(deadline, clock.monotonic() + this.#context.work.patienceMs)
      else {
        const cooldown = forced ? undefined : slot.cooldown
        if (cooldown) {
          await cooldown.checkCredentials(leftMs, signal)
          // A later request has settled in the meantime, or the provider was reset.
          if (slot.cooldown !== cooldown) continue
        }
        // Several callers reach this point together. No await from here on: the request must not lose its last caller.
        request =
          pendingRequestOf(slot, givenUp) ??
          this.#start(slot, {
            reason: forced ? 'forced' : this.#reasonFor(slot.cached),
            forced,
            minimumValidityMs,
            delayMs: cooldown?.delayMs(leftMs),
            challenge,
          })
        if (cooldown && request.options.delayMs) record.waitedFor = 'cooldown'
      }
      record.waitedFor ??= 'token_request'
      record.requestId = request.id
      // It started before this call, or it reads the store, so another one follows once it has settled.
      const outdated = forced && !(request.forced && request.id > requestsBefore)
      try {
        const found = await request.join(signal, until)
        if (outdated) continue
        // The request may have outlived a reset, so its own token counts, not the cached one.
        const isNew = request.forced || found.storeId === undefined
        if (isNew || hasValidity(found, clock, minimumValidityMs)) return found.token
        // Another process's token, too old for this caller, which requests one of its own.
      } catch (error) {
        if (error === stalled) givenUp = request
        else if (!outdated) throw error
      } finally {
        if (request.waitedForOthers) record.waitedFor = 'other_process'
      }
    }
  }

  /** Whether a cached token meets a demand, apart from its state. */
  #suffices(cached: CachedToken, demand: Demand): boolean {
    const { forceRefresh, minimumValidityMs = 0, waitForReplacement, replacementOf } = demand
    if (forceRefresh || cached.token.value === replacementOf?.value) return false
    if (waitForReplacement && cached.rejection) return false
    return minimumValidityMs === 0 || hasValidity(cached, this.#settings.clock, minimumValidityMs)
  }

  /** The token for a call that failed: a rejected one is better than none, because an API may accept it. */
  #lastResort(cached: CachedToken | undefined, demand: Demand): AccessToken | undefined {
    const { forceRefresh, waitForReplacement, replacementOf } = demand
    const allWait = cached?.rejection === 'all_wait'
    const mayFallBack = waitForReplacement || (allWait && !forceRefresh && !replacementOf)
    return mayFallBack && stateOf(cached, this.#settings.clock) !== 'expiring' ? cached?.token : undefined
  }

  /** Why a new token is requested for a call that the cached one does not suffice for. */
  #reasonFor(cached: CachedToken | undefined): TokenRequestReason {
    const state = stateOf(cached, this.#settings.clock)
    if (state === 'none') return 'first'
    if (state === 'expiring') return 'expiring'
    return cached!.rejection ? 'rejected' : 'minimum_validity'
  }

  #start(
    slot: Slot,
    options: Pick<
      PendingRequestOptions,
      'reason' | 'forced' | 'background' | 'minimumValidityMs' | 'delayMs' | 'challenge'
    >,
  ): PendingRequest {
    if (this.#closed) throw new TokenError(closedProvider)
    const { source, cached: replaces, cooldown, ignoresStore } = slot
    const failures = cooldown?.failures ?? 0
    const forced = options.forced || ignoresStore || false
    const request = new PendingRequest(
      { ...options, id: ++this.#requests, source, replaces, failures, forced },
      this.#context,
    )
    slot.request = request
    this.#pending.add(request)
    // Unless the provider was reset in the meantime.
    request.whenSettled(
      (cached) => {
        if (slot.request !== request) return
        slot.cached = cached
        slot.cooldown = undefined
        slot.ignoresStore = false
      },
      (error) => {
        if (slot.request !== request || !isTokenError(error)) return
        slot.cooldown = new Cooldown(error, failures, this.#settings.clock, source)
      },
    )
    // Last, because `waitUntil` may call this provider.
    this.#context.work.keepAlive(request.settled().then(() => void this.#pending.delete(request)))
    return request
  }

  /** Starts a background refresh unless one is pending or has to wait; returns false if the runtime would drop it. */
  #refresh(slot: Slot, reason: TokenRequestReason): boolean {
    if (this.#context.work.isDropped) return false
    if (!pendingRequestOf(slot) && !slot.cooldown?.pausesRefresh())
      this.#start(slot, { reason, background: true })
    return true
  }

  reject(token: AccessToken | string): void {
    const value = typeof token === 'string' ? token : token.value
    const slot = this.#slots.find(({ cached }) => cached?.token.value === value)
    if (slot === undefined) return this.#rememberRejected(token)
    const { token: cached } = slot.cached!
    const refreshing = this.#mayReplace(slot)
    if (refreshing) slot.cached!.rejection = 'all_wait'
    this.#reportRejected(cached, refreshing)
  }

  async replaceRejected(token: AccessToken, request: RejectedRequest): Promise<AccessToken | undefined> {
    const { attempt, repeatable, missingScopes, challenge, signal } = request
    const { origin, pathname } = new URL(request.url)
    if (missingScopes) return repeatable ? this.#stepUpTo(missingScopes, token, origin, signal) : undefined
    const { budget } = this.#context
    if (attempt === 2) {
      budget.pause(origin + pathname, token.value)
      return undefined
    }
    const slot = this.#slot
    const { cached } = slot
    if (cached?.token.value === token.value) {
      const refreshing = this.#mayReplace(slot, origin, origin + pathname)
      if (refreshing) cached.rejection ??= 'unrepeatable_wait'
      if (refreshing && !repeatable) {
        budget.pause(origin + pathname, token.value)
        if (!this.#refresh(slot, 'rejected')) cached.rejection = 'all_wait'
      }
      this.#reportRejected(token, refreshing, origin)
      if (!refreshing) return undefined
    } else this.#rememberRejected(token, origin)
    return repeatable ? this.#callFor(slot, { signal, replacementOf: token, challenge }) : undefined
  }

  /** Whether the rejected token of a slot may be replaced now. */
  #mayReplace(slot: Slot, origin?: string, path?: string): boolean {
    const { budget } = this.#context
    const cached = slot.cached!
    // Its replacement has been requested already.
    if (cached.rejection) return true
    if (!pendingRequestOf(slot) && !budget.draw(origin, path)) return false
    budget.remember(cached.token.value)
    void this.#removeStored({ source: slot.source, cached })
    return true
  }

  /** A token of the same source, of which nothing is cached now: the store may still have it. */
  #rememberRejected(token: AccessToken | string, origin?: string): void {
    const { budget } = this.#context
    const value = typeof token === 'string' ? token : token.value
    if (this.#slot.cached || budget.isRejected(value)) return
    budget.remember(value)
    this.#reportRejected(token, true, origin)
  }

  #reportRejected(token: AccessToken | string, refreshing: boolean, origin?: string): void {
    this.#context.events.tokenRejected(token, refreshing, origin)
  }

  /**
   * A token that has the scopes as well. Later calls get it too, until it is no longer granted. Undefined if the application
   * does not allow the scopes, or if too many responses have required others.
   */
  async #stepUpTo(
    scopes: readonly string[],
    token: AccessToken,
    origin: string,
    signal: AbortSignal | undefined,
  ): Promise<AccessToken | undefined> {
    let slot = this.#slots.find(({ source }) => source.stepUp?.(scopes) === source)
    if (slot === undefined) {
      const source = this.#closed ? undefined : this.#slot.source.stepUp?.(scopes)
      if (source === undefined || !this.#context.budget.draw(origin)) return undefined
      this.#stepUp = slot = { source }
    }
    const next = await this.#call(slot, { signal })
    if (next.value === token.value) return undefined
    this.#slot = slot
    return next
  }

  #callFor(slot: Slot, demand: Demand): Promise<AccessToken> {
    return slot === this.#main ? this.#call(slot, demand) : this.#callStepUp(slot, demand)
  }

  /** One call after a step-up: where its scopes are no longer granted, calls get the main token again. */
  async #callStepUp(slot: Slot, demand: Demand): Promise<AccessToken> {
    const startedAt = this.#settings.clock.monotonic()
    try {
      return await this.#call(slot, demand, startedAt)
    } catch (error) {
      const isNoLongerGranted =
        isTokenError(error) && (error.kind === 'configuration' || error.kind === 'credentials')
      if (demand.signal?.aborted || !isNoLongerGranted) throw error
      if (this.#slot === slot) this.#slot = this.#main
      // The next step-up must not return a token that an API has rejected.
      if (slot.cached?.rejection) slot.cached = undefined
      return this.#call(this.#main, demand, startedAt)
    }
  }

  reset(): void {
    for (const slot of this.#slots) {
      // The callers of the pending request still get its result. The next one ignores the store.
      slot.cached = slot.cooldown = slot.request = undefined
      slot.ignoresStore = true
    }
    this.#context.budget.clear()
  }

  async revoke(): Promise<void> {
    const held = this.#heldTokens
    this.reset()
    // Their entries may still be being written.
    await this.#context.work.settled()
    await this.#revokeAll(held)
  }

  async close({ revoke = false, whenIdle = false }: CloseOptions = {}): Promise<void> {
    if (whenIdle && this.#calls > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
    const held = this.#heldTokens
    const requests = [...this.#pending].filter((request) => request.checkPending())
    this.#closed = true
    for (const slot of this.#slots) slot.cached = slot.cooldown = slot.request = undefined
    for (const request of requests) request.cancel(new TokenError(closedProvider))
    await Promise.all(requests.map((request) => request.settled()))
    await this.#context.work.settled()
    if (revoke) await this.#revokeAll(held.filter(({ cached }) => cached.storeId === undefined))
  }

  get #slots(): Slot[] {
    return [...new Set([this.#slot, this.#main, this.#stepUp ?? this.#main])]
  }

  get #heldTokens(): HeldToken[] {
    return this.#slots.flatMap(({ source, cached }) => (cached ? { source, cached } : []))
  }

  /** Revokes every token, and then throws the first failure. */
  async #revokeAll(held: readonly HeldToken[]): Promise<void> {
    const results = await Promise.allSettled(
      held.map(async (each) => {
        await this.#removeStored(each)
        await this.#revoke(each.source, each.cached.token)
      }),
    )
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  /** Revokes one token, in one attempt. @throws {TokenError} if the source cannot revoke tokens, or if it fails */
  async #revoke(source: TokenSource, token: AccessToken): Promise<void> {
    const { attemptTimeoutMs, label = source.label } = this.#settings
    if (!source.revokeToken) throw configurationError('The token source cannot revoke tokens.')
    const controller = new AbortController()
    await waitFor(
      source.revokeToken(token.value, { signal: controller.signal, label }),
      attemptTimeoutMs,
      undefined,
      () => unresponsiveError(controller.signal, attemptTimeoutMs, label),
      () => controller.abort(),
    )
  }

  /** Removes a token from the store that it came from or was written to. Never fails. */
  async #removeStored({ source, cached: { storeId } }: HeldToken): Promise<void> {
    const { store } = this.#settings
    if (store === undefined || storeId === undefined) return
    const user = {
      source,
      settings: this.#settings,
      emit: (event: TokenEvent) => this.#context.events.emit(event),
    }
    await (store.sharing as unknown as SharingAlgorithm).remove(user, store, storeId)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  toJSON(): object {
    return { source: this.#main.source, token: this.#slot.cached?.token }
  }

  subscribe(listener: TokenEventListener): () => void {
    return this.#context.events.subscribe(listener)
  }

  report(event: TokenAttachmentEvent): void {
    this.#context.events.emit(event)
  }

  reportSuccess(urlOf: () => string | URL): void {
    const { budget } = this.#context
    if (budget.pauses) budget.resume(urlOf)
  }
}

function ownRequestError(): TokenError {
  return markOwnRequest(
    configurationError(
      'The token source requires a token of its own provider. Use another HTTP client in it.',
    ),
  )
}

/** The request that callers can join, unless its runtime has dropped it, or the caller has given it up. */
function pendingRequestOf({ request }: Slot, givenUp?: PendingRequest): PendingRequest | undefined {
  return request !== givenUp && request?.checkPending() ? request : undefined
}
