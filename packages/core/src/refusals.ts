import { elapsedSince, readInstant, type Clock, type Instant } from './clock.ts'

const budget = 20
const refillMs = 5_000
const remembered = 100

/** What APIs refused: how many renewals that may still cause, and which of a store's entries not to take again. */
export class Refusals {
  #left = budget
  #since: Instant | undefined
  readonly #storeIds = new Set<string>()

  /** Takes one renewal from the budget of 20, which gets one back every 5 s. False where none is left. */
  draw(clock: Clock): boolean {
    if (this.#since) this.#left = Math.min(budget, this.#left + elapsedSince(this.#since, clock) / refillMs)
    this.#since = readInstant(clock)
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }

  /** Remembers a refused entry, so that a stale store cannot bring it back. */
  remember(storeId: string): void {
    this.#storeIds.add(storeId)
    if (this.#storeIds.size > remembered) this.#storeIds.delete(this.#storeIds.values().next().value!)
  }

  includes(storeId: string | undefined): boolean {
    return this.#storeIds.has(storeId!)
  }
}
