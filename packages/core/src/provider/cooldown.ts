import { cooldownMsOf, doubled } from '../protocol/backoff.ts'
import { changeTokenError, type TokenError } from '../protocol/token-error.ts'
import { elapsedSince, readInstant, type Clock, type Instant } from '../runtime/clock.ts'
import { waitFor } from '../runtime/wait.ts'
import { SharedFailure } from '../sharing/token-store.ts'
import type { TokenSource } from '../protocol/token-source.ts'

/** How often, and for how long, the source is checked for changed credentials. */
const credentialsCheckMs = 1_000
/** How often a cooldown is read from the store again. */
const storeLookupMs = 1_000

/** The cooldown after failures in a row: how long callers get the same error, and how long a refresh waits. */
export class Cooldown {
  readonly #error: TokenError
  readonly #failures: number
  readonly #clock: Clock
  readonly #source: TokenSource
  readonly #since: Instant
  /** How long callers get the error. */
  readonly #ms: number
  /** The time of the next attempt, as stated in the error. */
  readonly #announcedMs: number
  readonly #refreshPauseMs: number
  #check!: Promise<boolean>
  #checkedAt = Number.NEGATIVE_INFINITY
  #isOver = false

  constructor(error: TokenError, failuresBefore: number, clock: Clock, source: TokenSource) {
    const shared = error instanceof SharedFailure ? error : undefined
    this.#error = error
    this.#failures = Math.max(failuresBefore + 1, shared?.failures ?? 0)
    this.#clock = clock
    this.#source = source
    this.#since = readInstant(clock)
    const ms = (this.#announcedMs = shared?.cooldownMs ?? cooldownMsOf(error, this.#failures))
    // A throttled caller may wait for the whole time; others check the store to see whether it is over.
    this.#ms = shared && error.kind !== 'throttled' ? Math.min(ms, storeLookupMs) : ms
    this.#refreshPauseMs = Math.max(
      1_000,
      Math.random() * doubled([2_000, 60_000], this.#failures),
      error.kind === 'credentials' || error.retryAfterMs ? ms : 0,
    )
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#isOver ? 0 : this.#failures
  }

  /** Whether the refresh of a token that is still valid has to wait. */
  pausesRefresh(): boolean {
    return !this.#isOver && elapsedSince(this.#since, this.#clock) < this.#refreshPauseMs
  }

  /** Ends the cooldown if the credentials have changed. */
  async checkCredentials(leftMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#remainingMs() <= 0) return
    this.#isOver ||=
      (await waitFor<boolean | undefined>(this.#credentialsChanged(), leftMs, signal, () => undefined)) ??
      false
    signal?.throwIfAborted()
  }

  /**
   * How long the next request has to wait, in milliseconds.
   *
   * @param leftMs the caller's remaining time: a rate limit is waited for if it fits
   * @throws {TokenError} the failure, with the time of the next attempt
   */
  delayMs(leftMs: number): number {
    const remainingMs = this.#remainingMs()
    if (remainingMs <= 0) return 0
    if (this.#error.kind === 'throttled' && remainingMs < leftMs) return remainingMs
    throw this.#currentError()
  }

  #remainingMs(): number {
    return this.#isOver ? 0 : this.#ms - elapsedSince(this.#since, this.#clock)
  }

  /**
   * Whether the credentials have changed since the failure. Regardless of the number of callers, the source is
   * checked at most once a second, for at most a second.
   */
  #credentialsChanged(): Promise<boolean> {
    // Another process's credentials are those of the same cache key.
    if (!this.#source.credentialsChanged || this.#error instanceof SharedFailure) {
      return Promise.resolve(false)
    }
    const now = this.#clock.monotonic()
    if (now - this.#checkedAt >= credentialsCheckMs) {
      this.#checkedAt = now
      this.#check = within(this.#source, Math.min(credentialsCheckMs, Math.max(0, this.#remainingMs())))
    }
    return this.#check
  }

  /** The error that callers get during the cooldown, with the time of the next attempt. */
  #currentError(): TokenError {
    const remainingMs = Math.max(0, this.#announcedMs - elapsedSince(this.#since, this.#clock))
    const { message, kind, retryAfterMs } = this.#error
    return changeTokenError(this.#error, {
      message: `${message} Next attempt in ${Math.ceil(remainingMs / 1000)} s.`,
      retryAfterMs: kind === 'throttled' ? Math.ceil(remainingMs) : retryAfterMs,
    })
  }
}

/** False if the check fails or takes longer. */
async function within(source: TokenSource, ms: number): Promise<boolean> {
  try {
    const check = source.credentialsChanged!()
    return (await waitFor<boolean | undefined>(check, ms, undefined, () => undefined)) ?? false
  } catch {
    return false
  }
}
