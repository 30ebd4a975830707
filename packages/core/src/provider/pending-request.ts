import { retryDelayMs } from '../protocol/backoff.ts'
import { changeTokenError, failureOf, isTokenError, TokenError } from '../protocol/token-error.ts'
import { isAccessToken, type TokenResponse } from '../protocol/token-response.ts'
import { readInstant, type Instant } from '../runtime/clock.ts'
import { callInContext, type RunInContext } from '../runtime/listeners.ts'
import { callAs } from '../runtime/own-request.ts'
import { abortQuietly, limitTimer, longestTimer, onAbort, sleep, waitFor, waitOf } from '../runtime/wait.ts'
import type { IssuedToken, SharingAlgorithm, StoreRequest } from '../sharing/token-sharing.ts'
import type { StoredToken } from '../sharing/token-store.ts'
import type { ApiChallenge, TokenSource } from '../protocol/token-source.ts'
import type { BackgroundWork } from './background-work.ts'
import type { TokenEvents, TokenRequestReason, TokenEvent } from './events.ts'
import type { RefreshBudget } from './refresh-budget.ts'
import {
  createCachedToken,
  hasValidity,
  isExpiredOnArrival,
  lifetimeOf,
  stateOf,
  type CachedToken,
} from './token-lifetime.ts'
import type { ProviderSettings } from './token-provider.ts'

/** What the requests of one provider have in common. */
export interface ProviderContext {
  readonly settings: ProviderSettings
  readonly events: TokenEvents
  readonly work: BackgroundWork
  readonly budget: RefreshBudget
}

/** Why a token is requested, and how. */
export interface PendingRequestOptions {
  readonly id: number
  readonly reason: TokenRequestReason
  readonly source: TokenSource
  /** The token that it replaces. */
  readonly replaces?: CachedToken | undefined
  /** Failures in a row before this request. */
  readonly failures: number
  /** Whether the token in the store is ignored. */
  readonly forced?: boolean
  /** A background refresh continues when nobody waits for it. */
  readonly background?: boolean
  readonly minimumValidityMs?: number
  readonly delayMs?: number | undefined
  /** What the API responded that caused this request. */
  readonly challenge?: ApiChallenge | undefined
}

/** Callers that wait until the same time, give or take this, share a timer: thousands would cost more than the token. */
const sameMomentMs = 10
/** Callers wait this much longer than the request itself, because its error is more specific. */
const graceMs = 50

/** The caller's time is over, or the request has made no progress when it should have: its runtime has dropped it. */
export const stalled = new Error('stalled')

/** The error of a caller that timed out. */
export function timeoutError(timeoutMs: number): TokenError {
  return unavailable(`Timed out after ${Math.round(timeoutMs) / 1000} s while waiting for a token.`)
}

/** The error of a source that has not settled in time: names what it waits for. */
export function unresponsiveError(
  signal: AbortSignal,
  limitMs: number,
  label: string | undefined,
): TokenError {
  const wait = waitOf(signal)
  const time = `${label ? ` to "${label}"` : ''} within ${Math.round(limitMs) / 1000} s.`
  if (wait) return unavailable(`${wait} did not respond${time}`)
  return unavailable(
    `The token source returned nothing${time} ` +
      'If it sends its request with a client that attaches its own tokens, use another client in it.',
  )
}

function unavailable(message: string): TokenError {
  return new TokenError({ kind: 'unavailable', message })
}

/** Callers that wait until the same moment. */
interface JoinedWait {
  readonly until: number
  readonly result: Promise<CachedToken>
  callers: number
}

/** One token request: its attempts, the callers that wait for it, their timers, and its cancellation. */
export class PendingRequest implements StoreRequest<CachedToken> {
  readonly options: PendingRequestOptions
  readonly id: number
  readonly source: TokenSource
  readonly forced: boolean
  readonly failures: number
  readonly isHurried: boolean
  readonly settings: ProviderSettings
  /** When it must have settled, by the monotonic clock, so that setting the wall clock cannot cut it short. */
  readonly deadline: number
  readonly #context: ProviderContext
  readonly #controller = new AbortController()
  readonly #result: Promise<CachedToken>
  #waiting: number
  #progressBy: number
  #joinedWait: JoinedWait | undefined
  /** Its runtime has dropped it: its callers start another. */
  #isDropped = false
  #isOver = false
  /** Whether another process was requesting the token. */
  waitedForOthers = false

  /** Starts the request. */
  constructor(options: PendingRequestOptions, context: ProviderContext) {
    const { settings } = context
    this.options = options
    this.id = options.id
    this.source = options.source
    this.forced = options.forced ?? false
    this.failures = options.failures
    this.isHurried = options.reason !== 'refresh_ahead'
    this.settings = settings
    this.#context = context
    this.#waiting = options.background ? 1 : 0
    const now = settings.clock.monotonic()
    this.deadline = now + settings.timeoutMs
    this.#progressBy = now + (options.delayMs ?? 0) + settings.attemptTimeoutMs
    this.#result = this.#acquire()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether callers can join it. Cancels it if it should have made progress by now: its runtime has dropped it. */
  checkPending(): boolean {
    if (!this.#isOver && this.#isStalled) {
      this.#isDropped = true
      this.cancel()
    }
    return !this.#isOver
  }

  get #isStalled(): boolean {
    return this.settings.clock.monotonic() >= this.#progressBy + graceMs
  }

  expectProgress(ms: number): void {
    this.#progressBy = this.settings.clock.monotonic() + ms
  }

  readonly emit = (event: TokenEvent): RunInContext | undefined => this.#context.events.emit(event)

  afterwards(work: () => Promise<unknown>): void {
    this.#context.work.add(work)
  }

  cancel(reason?: Error): void {
    this.#isOver = true
    abortQuietly(this.#controller, reason)
  }

  /** Calls one of the functions when it has ended, before its callers continue. None, if it was cancelled. */
  whenSettled(succeed: (cached: CachedToken) => void, fail: (error: Error) => void): void {
    this.#result.then(
      (cached) => {
        this.#isOver = true
        succeed(cached)
      },
      (error: Error) => {
        this.#isOver = true
        if (!this.signal.aborted) fail(error)
      },
    )
  }

  /** Resolves once it has ended, even if it has failed. */
  async settled(): Promise<void> {
    await this.#result.catch(() => {})
  }

  /**
   * Waits for the result. A caller whose signal is aborted leaves with its own reason, and others keep waiting; the last
   * one to leave cancels the request. Rejects with {@link stalled} at the time `until`, or if there is no progress.
   */
  join(signal: AbortSignal | undefined, until: number): Promise<CachedToken> {
    let wait = this.#joinedWait
    if (wait === undefined || Math.abs(until - wait.until) >= sameMomentMs) {
      wait = this.#joinedWait = this.#startWait(until)
    }
    const { result } = wait
    this.#waiting++
    wait.callers++
    if (signal === undefined) return result
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        reject(signal.reason as Error)
        wait.callers--
        this.#leave(1)
      })
      result.then(stopListening, stopListening)
      result.then(resolve, reject)
    })
  }

  #leave(callers: number): void {
    this.#waiting -= callers
    if (this.#waiting === 0) this.cancel()
  }

  #startWait(until: number): JoinedWait {
    const { clock } = this.settings
    let timer: ReturnType<typeof setTimeout>
    const result = new Promise<CachedToken>((resolve, reject) => {
      const check = (): void => {
        if (clock.monotonic() >= until + graceMs) {
          reject(stalled)
          this.#leave(wait.callers)
        } else if (this.#isStalled) reject(stalled)
        else checkLater()
      }
      const checkLater = (): void => {
        const ms = Math.min(until, this.#progressBy) + graceMs - clock.monotonic()
        timer = limitTimer(check, Math.ceil(Math.min(ms, longestTimer)))
      }
      checkLater()
      this.#result.then(resolve, (error: Error) => reject(this.#isDropped ? stalled : error))
    })
    const stop = (): void => clearTimeout(timer)
    // The timer stops even if every caller has left, so that nobody waits for the result.
    result.then(stop, stop)
    const wait: JoinedWait = { until, callers: 0, result }
    return wait
  }

  /** Gets a token through the provider's store, if it has one, or directly from its source. */
  async #acquire(): Promise<CachedToken> {
    const { signal } = this
    const { store } = this.settings
    const { delayMs = 0 } = this.options
    try {
      // Waits for at least one turn of the event loop, because a listener may request this very token.
      await (delayMs > 0 ? sleep(delayMs, signal) : undefined)
      const cached = store
        ? await (store.sharing as unknown as SharingAlgorithm).acquire(this, store)
        : (await this.requestFromSource(signal)).cached
      signal.throwIfAborted()
      return cached
    } catch (error) {
      signal.throwIfAborted()
      throw failureOfSource(error)
    }
  }

  /** Accepts a token of the store unless an API has rejected it, or it is the one that is to be replaced. */
  accept({ id, response, remainingMs }: StoredToken, readAt: Instant): CachedToken | undefined {
    const { settings, source } = this
    const { clock } = settings
    const { reason, replaces, minimumValidityMs = 0 } = this.options
    const { accessToken } = response
    if (this.#context.budget.isRejected(accessToken)) return undefined
    // Some servers return one token until it expires: then the store may have it with another lifetime.
    if (accessToken === replaces?.token.value && stateOf(replaces, clock) !== 'expiring') return undefined
    const { lifetimeMs } = lifetimeOf(response, settings)
    // Anchored at the moment the read was sent, so that a slow response makes the token older, not younger.
    const age = lifetimeMs - Math.min(remainingMs, lifetimeMs)
    const start = { wall: readAt.wall - age, monotonic: readAt.monotonic - age }
    const created = createCachedToken(response, start, lifetimeMs, settings, source, id)
    const cached = { ...created, arrivedWithMs: lifetimeMs }
    if (!hasValidity(cached, clock, minimumValidityMs)) return undefined
    const durationMs = clock.monotonic() - readAt.monotonic
    const facts = { requestId: this.id, reason, attempt: 0, durationMs, remainingMs }
    this.emit({ type: 'token_received', ...facts, from: 'store' })
    return cached
  }

  /** Requests a token from the source, and retries where that can help and time allows. */
  async requestFromSource(
    signal: AbortSignal,
    onRetry?: (error: TokenError, pauseMs: number) => void,
  ): Promise<IssuedToken<CachedToken>> {
    const { clock, attemptTimeoutMs, store, maxAttempts } = this.settings
    // With a store, a failing endpoint is probed once, not once per process and attempt.
    const attempts = store && this.failures > 0 ? 1 : maxAttempts
    const remainingMs = (): number => this.deadline - clock.monotonic()
    for (let attempt = 1; ; attempt++) {
      // All callers may have left while a store did not respond, or during a pause.
      signal.throwIfAborted()
      const start = readInstant(clock)
      const facts = { requestId: this.id, reason: this.options.reason, attempt }
      const runInContext = this.emit({ type: 'token_requested', ...facts })
      try {
        const limitMs = Math.max(0, Math.min(attemptTimeoutMs, remainingMs()))
        this.expectProgress(limitMs)
        const attempted = callInContext(runInContext, () => this.#attempt(limitMs, signal))
        const issued = this.#read(await attempted, start)
        const durationMs = clock.monotonic() - start.monotonic
        const { arrivedWithMs } = issued.cached
        this.emit({
          type: 'token_received',
          ...facts,
          from: 'endpoint',
          durationMs,
          remainingMs: arrivedWithMs,
        })
        return issued
      } catch (cause) {
        const durationMs = clock.monotonic() - start.monotonic
        const failure = withAttempts(failureOfSource(cause), attempt)
        if (signal.aborted || !isTokenError(failure)) {
          this.emit({ type: 'token_failed', ...facts, durationMs, kind: 'aborted' })
          signal.throwIfAborted()
          throw failure
        }
        const { kind, status, oauthError, vendorCode } = failure
        const mayRetry = attempt < attempts && this.#isWaitedFor
        const delayMs = mayRetry ? retryDelayMs(failure, attempt, remainingMs()) : undefined
        const retryInMs = delayMs !== undefined && delayMs < remainingMs() ? delayMs : undefined
        this.emit({
          type: 'token_failed',
          ...facts,
          durationMs,
          kind,
          status,
          oauthError,
          vendorCode,
          retryInMs,
        })
        if (retryInMs === undefined) throw failure
        onRetry?.(failure, retryInMs)
        this.expectProgress(retryInMs)
        await sleep(retryInMs, signal)
      }
    }
  }

  /** A background refresh that fails is left to the next call. */
  get #isWaitedFor(): boolean {
    return !this.options.background || this.#waiting > 1
  }

  /** Bounded in time even if the source ignores the signal. */
  async #attempt(limitMs: number, signal: AbortSignal): Promise<TokenResponse> {
    const { source } = this
    const controller = new AbortController()
    const label = this.settings.label ?? source.label
    const { replaces, challenge } = this.options
    const rejectedToken = replaces?.rejection ? replaces.token.value : undefined
    const call = (): Promise<TokenResponse> =>
      source.requestToken({ signal: controller.signal, label, rejectedToken, challenge })
    return waitFor(
      callAs(this.#context, controller.signal, call),
      limitMs,
      signal,
      () => unresponsiveError(controller.signal, limitMs, label),
      () => abortQuietly(controller),
      // Those who wait for the token keep the program alive.
      false,
    )
  }

  #read(response: TokenResponse, start: Instant): IssuedToken<CachedToken> {
    if (!isAccessToken(response?.accessToken)) {
      throw new TokenError({
        kind: 'malformed',
        message: 'The token source returned no valid access token. Check its requestToken().',
      })
    }
    const { lifetimeMs, problem } = lifetimeOf(response, this.settings)
    if (problem) this.emit({ type: 'lifetime_unknown', requestId: this.id, problem, assumedMs: lifetimeMs })
    const cached = createCachedToken(response, start, lifetimeMs, this.settings, this.source)
    if (!isExpiredOnArrival(cached)) return { cached, response, lifetimeMs }
    throw unavailable(
      `The token (lifetime ${Math.round(lifetimeMs) / 1000} s) expired before the response of the token endpoint arrived.`,
    )
  }
}

function failureOfSource(cause: unknown): Error {
  return failureOf(cause, (code) => unavailable(`The token source failed (${code}).`))
}

function withAttempts(failure: Error, attempts: number): Error {
  if (!isTokenError(failure)) return failure
  return Object.isExtensible(failure)
    ? Object.assign(failure, { attempts })
    : changeTokenError(failure, { attempts })
}
