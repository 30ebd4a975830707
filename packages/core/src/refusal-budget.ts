import { elapsedSince, readInstant, type Clock, type Instant } from './clock.ts'

const size = 20
const refillMs = 5_000

/** Renewals that refusals may cause: 20 at once, one more every 5 s. */
export class RefusalBudget {
  #left = size
  #since: Instant | undefined

  /** Takes one, if there is one. */
  draw(clock: Clock): boolean {
    const now = readInstant(clock)
    if (this.#since) this.#left = Math.min(size, this.#left + elapsedSince(this.#since, clock) / refillMs)
    this.#since = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
