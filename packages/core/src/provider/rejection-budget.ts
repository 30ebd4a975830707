import { elapsedSince, readInstant, type Clock, type Instant } from '../runtime/clock.ts'

const refreshes = 20
const refillMs = 5_000
const [firstPauseMs, longestPauseMs] = [1_000, 60_000]
const maxKeys = 100
const maxTokens = 100

interface Allowance {
  readonly left: number
  readonly since: Instant
}

interface Backoff {
  /** Refreshes in a row after which the resource did not accept the new token. */
  readonly refreshes: number
  readonly since: Instant
}

/**
 * How many refreshes rejected tokens may cause: 20 for each origin, and one more every 5 s. A resource that
 * rejects the new token as well causes the next refresh after 1 s at the earliest, growing to 60 s.
 */
export class RejectionBudget {
  readonly #clock: Clock
  /** By origin; undefined for rejections that `reject()` reports. */
  readonly #allowances = new Map<string | undefined, Allowance>()
  readonly #backoffs = new Map<string, Backoff>()
  readonly #rejectedTokens = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes one refresh from the budget; false if there is none. Without a resource, the origin's budget counts alone. */
  draw(origin?: string, resource?: string): boolean {
    const now = readInstant(this.#clock)
    const backoff = resource === undefined ? undefined : this.#backoffs.get(resource)
    const sinceMs = backoff ? elapsedSince(backoff.since, this.#clock) : 0
    if (backoff && sinceMs < Math.min(longestPauseMs, firstPauseMs * 2 ** (backoff.refreshes - 1)))
      return false
    const allowance = this.#allowances.get(origin)
    const refilled = allowance ? elapsedSince(allowance.since, this.#clock) / refillMs : 0
    const left = Math.min(refreshes, (allowance?.left ?? refreshes) + refilled)
    setBounded(this.#allowances, origin, { left: left < 1 ? left : left - 1, since: now })
    if (left < 1) return false
    if (resource !== undefined) {
      const inRow = backoff && sinceMs < 2 * longestPauseMs ? backoff.refreshes : 0
      setBounded(this.#backoffs, resource, { refreshes: inRow + 1, since: now })
    }
    return true
  }

  /** A resource accepted a new token: its rejections were justified. */
  accepted(resource: string): void {
    this.#backoffs.delete(resource)
  }

  /** Remembers a rejected token, so that an outdated store cannot bring it back. */
  remember(token: string): void {
    this.#rejectedTokens.add(token)
    if (this.#rejectedTokens.size > maxTokens) {
      this.#rejectedTokens.delete(this.#rejectedTokens.values().next().value!)
    }
  }

  isRejected(token: string): boolean {
    return this.#rejectedTokens.has(token)
  }
}

/** The oldest entry makes room for a new one. */
function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > maxKeys) map.delete(map.keys().next().value as Key)
}
