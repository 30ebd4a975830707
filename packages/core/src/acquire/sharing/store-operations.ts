import type { AcquireContext } from '../request-with-retries.ts'
import type { Clock } from '../../platform/clock.ts'
import { errorCode } from '../../platform/error-code.ts'
import { waitFor } from '../../platform/timers.ts'
import type { TokenStore } from '../../tokens/token-store.ts'
import { circuitBreakerOf, type StoreCircuitBreaker } from './store-circuit-breaker.ts'

/** Maximum duration of one store operation, in milliseconds. */
const operationMs = 200
/** An operation gets the same time again if this process was blocked for longer than this. */
const blockedMs = 20
const maxPeriods = 3

/** The error of a store operation that takes too long. */
export function slowStoreError(): Error {
  return Object.assign(new Error(), { code: 'slow' })
}

type OperationContext = Pick<AcquireContext, 'settings' | 'emit'> &
  Partial<Pick<AcquireContext, 'expectProgress'>>

/** One token request's operations on a store. Each has a time limit; after the first failure, no more are run. */
export class StoreOperations {
  readonly #store: TokenStore
  readonly #breaker: StoreCircuitBreaker
  readonly #key: string
  readonly #clock: Clock
  readonly #context: OperationContext
  #failed = false

  constructor(store: TokenStore, key: string, context: OperationContext) {
    this.#store = store
    this.#breaker = circuitBreakerOf(store)
    this.#key = key
    this.#clock = context.settings.clock
    this.#context = context
  }

  /** Whether the store must not be used, because it failed here or, recently, for others. */
  get unavailable(): boolean {
    return this.#failed || this.#breaker.isPaused(this.#key, this.#clock)
  }

  /** The store's result, or undefined if it failed or took too long; `onLate` gets a result that arrives after that. */
  async run<Value>(
    operation: string,
    call: (store: TokenStore, key: string) => Promise<Value>,
    onLate?: (value: Value) => unknown,
  ): Promise<Value | undefined> {
    if (this.unavailable) return undefined
    // Waiting for other callers of this process is not the store's fault: its time starts later.
    const { emit, expectProgress, settings } = this.#context
    const done = await this.#breaker.enter(() => expectProgress?.(settings.timeoutMs))
    const start = this.#clock.monotonic()
    try {
      if (this.unavailable) return undefined
      const value = await this.#within(call, onLate)
      if (this.#breaker.succeeded(this.#key, this.#clock)) emit({ type: 'store_recovered' })
      return value
    } catch (error) {
      this.#failed = true
      this.#breaker.failed(error, this.#key, this.#clock, start)
      emit({ type: 'store_unavailable', operation, cause: errorCode(error) })
      return undefined
    } finally {
      done()
    }
  }

  /**
   * Does not count time during which this process was blocked and could neither send nor receive. Gives up one turn
   * of the event loop after the time limit, because the result may have arrived already.
   */
  async #within<Value>(
    call: (store: TokenStore, key: string) => Promise<Value>,
    onLate: ((value: Value) => unknown) | undefined,
  ): Promise<Value> {
    let abandoned = false
    const work = (async () => {
      const value = await call(this.#store, this.#key)
      if (abandoned) await onLate?.(value)
      return value
    })()
    try {
      for (let period = 1; period <= maxPeriods; period++) {
        const start = this.#clock.monotonic()
        let isLate = false
        const value = await waitFor(work, operationMs, undefined, () => void (isLate = true))
        if (!isLate) return value
        if (this.#clock.monotonic() - start <= operationMs + blockedMs) break
      }
      return await waitFor(work, 0, undefined, slowStoreError)
    } catch (error) {
      abandoned = true
      throw error
    }
  }
}
