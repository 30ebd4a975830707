import { elapsedSince, readInstant, type Clock, type Instant } from '../platform/clock.ts'
import type { ProviderSettings } from './provider-options.ts'
import { errorCode } from '../sources/send-token-request.ts'
import type { TokenEvent } from '../tokens/token-event.ts'
import type { TokenStore } from '../tokens/token-store.ts'
import { waitFor } from '../platform/timers.ts'

/** What a sick store may cost one call, in milliseconds. */
const budgetMs = 200
const stallMs = 50

/** Keeps everyone off a store that failed, for 1 s growing to 30 s. */
interface Breaker {
  failures: number
  since: Instant
  ms: number
}

/** One for each store, however many providers share it. */
const breakers = new WeakMap<TokenStore, Breaker>()

/** What a wait for a store ends with. */
export function slow(): Error {
  return Object.assign(new Error(), { code: 'slow' })
}

/** One flight's dealings with a store: bounded in time, and over at the first failure. */
export class StoreSession {
  readonly #store: TokenStore
  readonly #clock: Clock
  readonly #emit: (event: TokenEvent) => void
  #leftMs = budgetMs
  #failed = false

  constructor(store: TokenStore, { clock }: ProviderSettings, emit: (event: TokenEvent) => void) {
    this.#store = store
    this.#clock = clock
    this.#emit = emit
  }

  /** Whether the store is to be left alone: it failed in this session, or lately for others. */
  get over(): boolean {
    const breaker = breakers.get(this.#store)
    return this.#failed || (breaker !== undefined && elapsedSince(breaker.since, this.#clock) < breaker.ms)
  }

  /** Waiting for another process is no fault of the store's: each look has its own time. */
  renewBudget(): void {
    this.#leftMs = budgetMs
  }

  /** The store's answer, or undefined where it failed or took too long; `late` gets an answer that came after all. */
  async run<Value>(
    operation: string,
    call: (store: TokenStore) => Promise<Value>,
    late?: (value: Value) => unknown,
  ): Promise<Value | undefined> {
    if (this.over) return undefined
    const start = this.#clock.monotonic()
    let abandoned = false
    const work = async (): Promise<Value> => {
      const value = await call(this.#store)
      if (abandoned) await late?.(value)
      return value
    }
    try {
      const value = await this.#within(work())
      breakers.delete(this.#store)
      return value
    } catch (error) {
      abandoned = true
      this.#failed = true
      this.#trip()
      this.#emit({ type: 'store_unavailable', operation, cause: errorCode(error) })
      return undefined
    } finally {
      const leftMs = this.#leftMs - (this.#clock.monotonic() - start)
      // An answer that came late all the same: this process stood still, not the store.
      this.#leftMs = leftMs > 0 ? leftMs : stallMs
    }
  }

  /** Gives up only a turn of the event loop after the time is up: where the process stood still, the answer is there. */
  async #within<Value>(work: Promise<Value>): Promise<Value> {
    const start = this.#clock.monotonic()
    let late = false
    const value = await waitFor(work, this.#leftMs, undefined, () => void (late = true))
    if (!late) return value
    const stalled = this.#clock.monotonic() - start > this.#leftMs + 20
    return waitFor(work, stalled ? stallMs : 0, undefined, slow)
  }

  /** Failures that come together are one. */
  #trip(): void {
    const breaker = breakers.get(this.#store)
    if (breaker && elapsedSince(breaker.since, this.#clock) < breaker.ms) return
    const failures = (breaker?.failures ?? 0) + 1
    const ms = Math.min(30_000, 1_000 * 2 ** (failures - 1))
    breakers.set(this.#store, { failures, since: readInstant(this.#clock), ms })
  }
}
