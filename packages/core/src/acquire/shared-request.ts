import { abortQuietly, onAbort } from '../runtime/abort.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { TokenRequestReason } from '../tokens/token-event.ts'
import type { CachedToken } from './cached-token.ts'
import { longestTimer, type ProviderSettings } from './provider-settings.ts'

/** Why a token is requested, and how. */
export interface SharedRequestOptions {
  readonly reason: TokenRequestReason
  /** Whether the token in the store is ignored. */
  readonly forced?: boolean
  /** A background refresh continues when nobody waits for it. */
  readonly background?: boolean
  readonly minimumValidityMs?: number
  readonly delayMs?: number
}

/** Callers that wait until the same time, give or take this, share a timer: thousands would cost more than the token. */
const sameMomentMs = 10
/** Callers wait this much longer than the request itself, because its error is more specific. */
const graceMs = 50

/** The caller's time is over, or the request has made no progress when it should have: its runtime has dropped it. */
export const stalled = new Error('stalled')

/** The error of a caller that timed out. */
export function timeoutError(timeoutMs: number): TokenError {
  return new TokenError({
    kind: 'unavailable',
    message: `Timed out after ${timeoutMs / 1000} s while waiting for a token.`,
  })
}

/** Callers that wait until the same moment. */
interface SharedWait {
  readonly until: number
  readonly result: Promise<CachedToken>
  callers: number
}

/** One token request: its waiting callers, their timers, and its cancellation. */
export class SharedRequest {
  readonly id: number
  readonly options: SharedRequestOptions
  /** When it must have settled, by the monotonic clock, so that setting the wall clock cannot cut it short. */
  readonly deadline: number
  readonly #settings: ProviderSettings
  readonly #controller = new AbortController()
  #result!: Promise<CachedToken>
  #waiting: number
  #progressBy: number
  #sharedWait: SharedWait | undefined
  /** Its runtime has dropped it: its callers start another. */
  #isDropped = false
  #isOver = false
  /** Whether another process was requesting the token. */
  waitedForOthers = false

  constructor(id: number, options: SharedRequestOptions, settings: ProviderSettings) {
    this.id = id
    this.options = options
    this.#settings = settings
    this.#waiting = options.background ? 1 : 0
    const now = settings.clock.monotonic()
    this.deadline = now + settings.timeoutMs
    this.#progressBy = now + (options.delayMs ?? 0) + settings.attemptTimeoutMs
  }

  /** @param acquire requests the token; never more than once */
  start(acquire: () => Promise<CachedToken>): Promise<unknown> {
    this.#result = acquire().finally(() => (this.#isOver = true))
    // Nobody may be waiting; callers that are get the failure from their own `join`.
    return this.settled()
  }

  /** Resolves once it has ended, even if it has failed. */
  async settled(): Promise<void> {
    await this.#result.catch(() => {})
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether callers can join it. One that should have made progress by now counts as dropped. */
  get isPending(): boolean {
    if (!this.#isOver && this.#isStalled) {
      this.#isDropped = true
      this.cancel()
    }
    return !this.#isOver
  }

  get #isStalled(): boolean {
    return this.#settings.clock.monotonic() >= this.#progressBy + graceMs
  }

  /** Promises progress within `ms`; callers stop waiting for a request that breaks this promise. */
  expectProgress(ms: number): void {
    this.#progressBy = this.#settings.clock.monotonic() + ms
  }

  cancel(reason?: Error): void {
    this.#isOver = true
    abortQuietly(this.#controller, reason)
  }

  /**
   * Waits for the result. A caller whose signal is aborted leaves with its own reason, and others keep waiting; the last
   * one to leave cancels the request. Rejects with {@link stalled} at the time `until`, or if there is no progress.
   */
  join(signal: AbortSignal | undefined, until: number): Promise<CachedToken> {
    let wait = this.#sharedWait
    if (wait === undefined || Math.abs(until - wait.until) >= sameMomentMs) {
      wait = this.#sharedWait = this.#startWait(until)
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

  #startWait(until: number): SharedWait {
    const { clock } = this.#settings
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
        timer = setTimeout(check, Math.ceil(Math.min(ms, longestTimer)))
      }
      checkLater()
      this.#result.then(resolve, (error: Error) => reject(this.#isDropped ? stalled : error))
    })
    const stop = (): void => clearTimeout(timer)
    // Also when every caller has left, so that nobody waits for the result.
    result.then(stop, stop)
    const wait: SharedWait = { until, callers: 0, result }
    return wait
  }
}
