import { elapsedSince, readInstant, type Clock, type Instant } from '../platform/clock.ts'

const budget = 20
const refillMs = 5_000
const remembered = 100

/** What APIs refused: how many renewals that may still cause, and which tokens not to take from a store again. */
export class RejectionBudget {
  #left = budget
  #since: Instant | undefined
  readonly #tokens = new Set<string>()

  /** Takes one renewal from the budget of 20, which gets one back every 5 s. False where none is left. */
  draw(clock: Clock): boolean {
    if (this.#since) this.#left = Math.min(budget, this.#left + elapsedSince(this.#since, clock) / refillMs)
    this.#since = readInstant(clock)
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }

  /** Remembers a refused token, so that a stale store cannot bring it back. */
  remember(token: string): void {
    this.#tokens.add(token)
    if (this.#tokens.size > remembered) this.#tokens.delete(this.#tokens.values().next().value!)
  }

  includes(token: string): boolean {
    return this.#tokens.has(token)
  }
}
