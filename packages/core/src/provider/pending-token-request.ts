import type { CachedToken } from '../acquire/cached-token.ts'
import { longestTimer, type ProviderSettings } from '../acquire/provider-options.ts'
import { onAbort } from '../runtime/abort.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { TokenRequestReason } from '../tokens/token-event.ts'

/** Why a token is requested, and how. */
export interface PendingTokenRequestOptions {
  readonly reason: TokenRequestReason
  /** Whether the token in the store is ignored. */
  readonly forced?: boolean
  /** A background refresh continues when nobody waits for it. */
  readonly background?: boolean
  readonly minimumValidityMs?: number
  readonly delayMs?: number
}

/** Callers that arrive within this time of each other share one wait: thousands of timers would cost more than the token. */
export const sameMomentMs = 10
/** Callers wait this much longer than the request itself, because its error is more specific. */
const graceMs = 50

/** A request that has made no progress when it should have: its runtime has dropped it. */
export const stalled = new Error('stalled')

/** Callers that wait until the same moment. */
interface SharedWait {
  readonly deadline: number
  readonly result: Promise<CachedToken>
  callers: number
}

/** One token request that any number of callers wait for. */
export class PendingTokenRequest {
  readonly controller = new AbortController()
  readonly id: number
  readonly forced: boolean
  readonly #settings: ProviderSettings
  #waiting: number
  #progressBy: number
  #sharedWait: SharedWait | undefined
  result!: Promise<CachedToken>
  /** Whether another process was requesting the token. */
  waitedForOthers = false
  /** Set when it is cancelled because its runtime has dropped it: its callers start another. */
  isAbandoned = false

  constructor(
    id: number,
    { forced = false, background = false, delayMs = 0 }: PendingTokenRequestOptions,
    settings: ProviderSettings,
  ) {
    this.id = id
    this.forced = forced
    this.#settings = settings
    this.#waiting = background ? 1 : 0
    this.#progressBy = settings.clock.monotonic() + delayMs + settings.attemptTimeoutMs
  }

  expectProgress(ms: number): void {
    this.#progressBy = this.#settings.clock.monotonic() + ms
  }

  get isStalled(): boolean {
    return this.#settings.clock.monotonic() >= this.#progressBy + graceMs
  }

  /**
   * Waits for the result. A caller whose signal is aborted leaves, with its own reason;
   * so does one that times out. Others keep waiting. Rejects with {@link stalled} if the request makes no progress.
   *
   * @param onAbandoned called when the last caller has left
   */
  join(signal: AbortSignal | undefined, deadline: number, onAbandoned: () => void): Promise<CachedToken> {
    let wait = this.#sharedWait
    if (wait === undefined || Math.abs(deadline - wait.deadline) >= sameMomentMs) {
      wait = this.#sharedWait = this.#startWait(deadline, onAbandoned)
    }
    const { result } = wait
    this.#waiting++
    wait.callers++
    if (signal === undefined) return result
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        reject(signal.reason as Error)
        wait.callers--
        if (--this.#waiting === 0) onAbandoned()
      })
      result.then(stopListening, stopListening)
      result.then(resolve, reject)
    })
  }

  #startWait(deadline: number, onAbandoned: () => void): SharedWait {
    const { clock, timeoutMs } = this.#settings
    let timer: ReturnType<typeof setTimeout>
    const result = new Promise<CachedToken>((resolve, reject) => {
      const check = (): void => {
        if (clock.monotonic() >= deadline + graceMs) {
          reject(timeoutError(timeoutMs))
          this.#waiting -= wait.callers
          if (this.#waiting === 0) onAbandoned()
        } else if (this.isStalled) reject(stalled)
        else checkLater()
      }
      const checkLater = (): void => {
        const ms = Math.min(deadline, this.#progressBy) + graceMs - clock.monotonic()
        timer = setTimeout(check, Math.ceil(Math.min(ms, longestTimer)))
      }
      checkLater()
      this.result.then(resolve, (error: Error) => reject(this.isAbandoned ? stalled : error))
    })
    const stop = (): void => clearTimeout(timer)
    // Also when every caller has left, so that nobody waits for the result.
    result.then(stop, stop)
    const wait: SharedWait = { deadline, callers: 0, result }
    return wait
  }
}

/** The error of a caller that timed out. */
export function timeoutError(timeoutMs: number): TokenError {
  return new TokenError({
    kind: 'unavailable',
    message: `Timed out after ${timeoutMs / 1000} s while waiting for a token.`,
  })
}
