import { elapsedSince, readInstant, type Clock, type Instant } from '../../runtime/clock.ts'
import type { TokenStore } from '../../tokens/token-store.ts'

/** How many operations one process runs on a store at a time: more would only wait in the client's own queue. */
const maxConcurrent = 400
const maxKeys = 1_000

/** A pause after failures: 1 s, growing to 30 s. */
interface Pause {
  readonly failures: number
  readonly since: Instant
  readonly ms: number
}

/**
 * A circuit breaker for a store and for each of its keys, shared by all providers that use the store. An error
 * whose `scope` is `'key'` pauses that key alone.
 */
export class StoreCircuitBreaker {
  #pause: Pause | undefined
  readonly #keyPauses = new Map<string, Pause>()
  #lastSuccess = { start: 0, at: Number.NEGATIVE_INFINITY }
  #running = 0
  readonly #waiting: (() => void)[] = []

  isPaused(key: string, clock: Clock): boolean {
    return isActive(this.#pause, clock) || isActive(this.#keyPauses.get(key), clock)
  }

  /** @param start when the operation began, by the monotonic clock */
  failed(error: unknown, key: string, clock: Clock, start: number): void {
    const { scope, code } = (error ?? {}) as { scope?: unknown; code?: unknown }
    // A store that has responded in the meantime, such as a cluster that has lost one node, is not slow.
    const hasResponded = this.#lastSuccess.at > start
    if (scope !== 'key' && !(code === 'slow' && hasResponded)) {
      this.#pause = next(this.#pause, clock)
      return
    }
    const pause = next(this.#keyPauses.get(key), clock)
    this.#keyPauses.delete(key)
    this.#keyPauses.set(key, pause)
    if (this.#keyPauses.size > maxKeys) this.#keyPauses.delete(this.#keyPauses.keys().next().value!)
  }

  /** Returns whether the store or the key had failed before. */
  succeeded(key: string, clock: Clock, start: number): boolean {
    this.#lastSuccess = { start, at: clock.monotonic() }
    const recovered = this.#pause !== undefined || this.#keyPauses.has(key)
    if (recovered) {
      this.#pause = undefined
      this.#keyPauses.delete(key)
    }
    return recovered
  }

  /** Whether the store has responded since `since` to an operation that began before `start`. */
  isCatchingUp(start: number, since: number): boolean {
    return this.#lastSuccess.at > since && this.#lastSuccess.start <= start
  }

  /** The number of operations that run now. */
  get running(): number {
    return this.#running
  }

  /** Waits for its turn; returns a function that ends it. */
  async enter(onWait: () => void): Promise<() => void> {
    if (this.#running < maxConcurrent) this.#running++
    else {
      onWait()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return () => {
      const nextInLine = this.#waiting.shift()
      if (nextInLine) nextInLine()
      else this.#running--
    }
  }
}

function isActive(pause: Pause | undefined, clock: Clock): boolean {
  return pause !== undefined && elapsedSince(pause.since, clock) < pause.ms
}

/** Failures that arrive together count once. */
function next(pause: Pause | undefined, clock: Clock): Pause {
  if (pause !== undefined && isActive(pause, clock)) return pause
  const failures = (pause?.failures ?? 0) + 1
  return { failures, since: readInstant(clock), ms: Math.min(30_000, 1_000 * 2 ** (failures - 1)) }
}

const breakers = new WeakMap<TokenStore, StoreCircuitBreaker>()

export function circuitBreakerOf(store: TokenStore): StoreCircuitBreaker {
  let known = breakers.get(store)
  if (known === undefined) breakers.set(store, (known = new StoreCircuitBreaker()))
  return known
}
