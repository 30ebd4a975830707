import { elapsedSince, readInstant, type Clock, type Instant } from './clock.ts'
import type { ProviderSettings } from './provider-settings.ts'
import { errorCode } from './send-token-request.ts'
import type { TokenEvent } from './token-event.ts'
import type { TokenStore } from './token-store.ts'
import { waitFor } from './wait.ts'

/** What a sick store may cost one call, in milliseconds. */
const budgetMs = 200

/** Keeps everyone off a store that failed, for 1 s growing to 30 s. */
interface Breaker {
  failures: number
  since: Instant
  ms: number
}

/** One for each store, however many providers share it. */
const breakers = new WeakMap<TokenStore, Breaker>()

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
    const start = readInstant(this.#clock)
    let abandoned = false
    const work = async (): Promise<Value> => {
      const value = await call(this.#store)
      if (abandoned) await late?.(value)
      return value
    }
    try {
      const slow = (): Error => Object.assign(new Error(), { code: 'slow' })
      const value = await waitFor(work(), Math.max(1, this.#leftMs), undefined, slow)
      breakers.delete(this.#store)
      return value
    } catch (error) {
      abandoned = true
      this.#failed = true
      const failures = (breakers.get(this.#store)?.failures ?? 0) + 1
      const ms = Math.min(30_000, 1_000 * 2 ** Math.min(failures - 1, 5))
      breakers.set(this.#store, { failures, since: readInstant(this.#clock), ms })
      this.#emit({ type: 'store_unavailable', operation, cause: errorCode(error) })
      return undefined
    } finally {
      this.#leftMs -= elapsedSince(start, this.#clock)
    }
  }
}
