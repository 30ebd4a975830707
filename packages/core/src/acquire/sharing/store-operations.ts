import type { AcquireContext } from '../request-with-retries.ts'
import type { Clock } from '../../runtime/clock.ts'
import { errorCode } from '../../runtime/error-code.ts'
import type { TokenStore } from '../../tokens/token-store.ts'
import { circuitBreakerOf, type StoreCircuitBreaker } from './store-circuit-breaker.ts'

const tickMs = 20
/**
 * An operation fails after 200 ms in which the store did not respond, and a millisecond for each operation that runs at
 * the same time: its response takes this process time, too.
 */
const maxSilentMs = 200
/** It fails after a second at the latest. */
const maxTicks = 1_000 / tickMs

/** The error of a store operation that takes too long. */
export function slowStoreError(): Error {
  return Object.assign(new Error(), { code: 'slow' })
}

type OperationContext = Pick<AcquireContext, 'settings' | 'emit' | 'expectProgress'>

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
    // Waiting for other callers of this process is not the store's fault: its time starts later. Those that have waited
    // try for themselves even if the store has failed by now, because their token requests would all be sent at once.
    const { emit, expectProgress, settings } = this.#context
    const done = await this.#breaker.enter(() => expectProgress(settings.timeoutMs))
    const start = this.#clock.monotonic()
    try {
      const value = await this.#limited(call, start, onLate)
      if (this.#breaker.succeeded(this.#key, this.#clock, start)) emit({ type: 'store_recovered' })
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
   * Counts ticks instead of reading a clock: while this process is blocked, it can neither send nor receive, and a late
   * tick counts once. A store that responds to operations that began earlier is not silent: this one is still in line.
   */
  #limited<Value>(
    call: (store: TokenStore, key: string) => Promise<Value>,
    start: number,
    onLate: ((value: Value) => unknown) | undefined,
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      let isLate = false
      let ticks = 0
      let silentTicks = 0
      let tickedAt = start
      const timer = setInterval(() => {
        ticks++
        silentTicks = this.#breaker.isCatchingUp(start, tickedAt) ? 0 : silentTicks + 1
        tickedAt = this.#clock.monotonic()
        // One tick more: a response may be here by then.
        const isSilent = (silentTicks - 1) * tickMs >= maxSilentMs + this.#breaker.running - 1
        if (!isSilent && ticks < maxTicks) return
        isLate = true
        clearInterval(timer)
        reject(slowStoreError())
      }, tickMs)
      const work = async (): Promise<void> => {
        try {
          const value = await call(this.#store, this.#key)
          if (isLate) await onLate?.(value)
          else resolve(value)
        } catch (error) {
          reject(error)
        } finally {
          clearInterval(timer)
        }
      }
      void work()
    })
  }
}
