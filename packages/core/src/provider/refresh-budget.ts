import { elapsedSince, readInstant, type Clock, type Instant } from '../runtime/clock.ts'
import { LruMap } from '../runtime/lru-map.ts'

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
 * How many refreshes rejected tokens may cause: 20 for each origin, and one more every 5 s. A path that rejects the new token
 * as well causes the next refresh after 1 s at the earliest, growing to 60 s. Remembers the rejected tokens.
 */
export class RefreshBudget {
  readonly #clock: Clock
  /** By origin; undefined for rejections that `reject()` reports. Created when they are needed, because pools keep many. */
  #allowances: LruMap<string | undefined, Allowance> | undefined
  /** By path; undefined as long as none has been paused, which each successful request looks at. */
  pauses: LruMap<string, Pause> | undefined
  #tokens: LruMap<string, true> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes one refresh from the budget; false if it is used up. Without a path, the origin's budget counts alone. */
  draw(origin?: string, path?: string): boolean {
    const pause = path === undefined ? undefined : this.pauses?.get(path)
    if (
      pause &&
      elapsedSince(pause.since, this.#clock) < Math.min(longestPauseMs, firstPauseMs * 2 ** pause.inRow)
    )
      return false
    const allowances = (this.#allowances ??= new LruMap(maxKeys))
    const allowance = allowances.get(origin)
    const refilled = allowance ? elapsedSince(allowance.since, this.#clock) / refillMs : 0
    const left = Math.min(refreshes, (allowance?.left ?? refreshes) + refilled)
    allowances.set(origin, { left: left < 1 ? left : left - 1, since: readInstant(this.#clock) })
    return left >= 1
  }

  /** Pauses refreshes that a path causes: it has rejected a replacement, or nobody will see whether it does. */
  pause(path: string, token: string): void {
    const pauses = (this.pauses ??= new LruMap(maxKeys))
    const last = pauses.get(path)
    if (last?.token === token) return
    const inRow = last && elapsedSince(last.since, this.#clock) < 2 * longestPauseMs ? last.inRow + 1 : 0
    pauses.set(path, { token, inRow, since: readInstant(this.#clock) })
  }

  /** Ends the pause of a path: it has accepted a token. */
  resume(urlOf: () => string | URL): void {
    if (!this.pauses?.size) return
    const url = urlOf()
    if (!URL.canParse(url)) return
    const { origin, pathname } = new URL(url)
    this.pauses.delete(origin + pathname)
  }

  /** Remembers a rejected token, so that an outdated store cannot bring it back. */
  remember(token: string): void {
    this.#tokens ??= new LruMap(maxTokens)
    this.#tokens.set(token, true)
  }

  isRejected(token: string): boolean {
    return this.#tokens?.has(token) ?? false
  }

  clear(): void {
    this.#allowances = this.pauses = this.#tokens = undefined
  }
}
