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

/** A pause of a path that rejects replacements. */
interface Pause {
  /** The replacement that was rejected last: however many requests carried it, it counts once. */
  readonly token: string
  readonly inRow: number
  readonly since: Instant
}

/**
 * How many refreshes rejected tokens may cause: 20 for each origin, and one more every 5 s. A path that rejects the
 * new token as well causes the next refresh after 1 s at the earliest, growing to 60 s.
 */
export class RejectionBudget {
  readonly #clock: Clock
  /** By origin; undefined for rejections that `reject()` reports. */
  readonly #allowances = new Map<string | undefined, Allowance>()
  readonly #pauses = new Map<string, Pause>()
  readonly #rejectedTokens = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes one refresh from the budget; false if it is used up. Without a path, the origin's budget counts alone. */
  draw(origin?: string, path?: string): boolean {
    const pause = path === undefined ? undefined : this.#pauses.get(path)
    if (
      pause &&
      elapsedSince(pause.since, this.#clock) < Math.min(longestPauseMs, firstPauseMs * 2 ** pause.inRow)
    )
      return false
    const allowance = this.#allowances.get(origin)
    const refilled = allowance ? elapsedSince(allowance.since, this.#clock) / refillMs : 0
    const left = Math.min(refreshes, (allowance?.left ?? refreshes) + refilled)
    const since = readInstant(this.#clock)
    setBounded(this.#allowances, origin, { left: left < 1 ? left : left - 1, since })
    return left >= 1
  }

  /** Pauses refreshes that a path causes: it has rejected a replacement, or nobody will see whether it does. */
  pause(path: string, token: string): void {
    const last = this.#pauses.get(path)
    if (last?.token === token) return
    const inRow = last && elapsedSince(last.since, this.#clock) < 2 * longestPauseMs ? last.inRow + 1 : 0
    setBounded(this.#pauses, path, { token, inRow, since: readInstant(this.#clock) })
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
