import { holdDuration, renewalPause } from './backoff.ts'
import { elapsedSince, readInstant, type Clock, type Instant } from './clock.ts'
import type { TokenError } from './token-error.ts'

/** Failures in a row: how long callers are spared another request, and how long a renewal waits. */
export class Setbacks {
  readonly error: TokenError
  readonly #count: number
  readonly #clock: Clock
  readonly #since: Instant
  readonly #holdMs: number
  readonly #pauseMs: number

  constructor(error: TokenError, before: Setbacks | undefined, clock: Clock) {
    this.error = error
    this.#count = before ? before.#count + 1 : 1
    this.#clock = clock
    this.#since = readInstant(clock)
    this.#holdMs = holdDuration(error, this.#count)
    this.#pauseMs = Math.max(renewalPause(this.#count), error.kind === 'credentials' ? this.#holdMs : 0)
  }

  /** Milliseconds during which callers without a token get the same error; zero or less once they may ask again. */
  get heldMs(): number {
    return this.#holdMs - elapsedSince(this.#since, this.#clock)
  }

  /** Whether a token that still lives is not to be renewed yet. */
  get renewalPaused(): boolean {
    return elapsedSince(this.#since, this.#clock) < this.#pauseMs
  }
}
