import type { ProviderSettings } from '../acquire/provider-options.ts'
import type { Clock } from '../platform/clock.ts'
import { errorCode } from '../platform/error-code.ts'
import { waitFor } from '../platform/timers.ts'
import type { TokenEvent } from '../tokens/token-event.ts'
import type { TokenStore } from '../tokens/token-store.ts'
import { storeHealth, type StoreHealth } from './store-health.ts'

/** Maximum duration of one store operation, in milliseconds. */
const operationMs = 200
/** What an operation gets after this process was blocked: its result may be here already. */
const graceMs = 50

/** The reason with which a wait for a store is rejected. */
export function slowStoreError(): Error {
  return Object.assign(new Error(), { code: 'slow' })
}

/** One token request's operations on a store: each bounded in time; the session is over at the first failure. */
export class StoreSession {
  readonly #store: TokenStore
  readonly #health: StoreHealth
  readonly #key: string
  readonly #clock: Clock
  readonly #emit: (event: TokenEvent) => void
  #failed = false

  constructor(
    store: TokenStore,
    key: string,
    { clock }: Pick<ProviderSettings, 'clock'>,
    emit: (event: TokenEvent) => void,
  ) {
    this.#store = store
    this.#health = storeHealth(store)
    this.#key = key
    this.#clock = clock
    this.#emit = emit
  }

  /** Whether the store must not be used: it failed in this session, or recently for others. */
  get over(): boolean {
    return this.#failed || this.#health.isPaused(this.#key, this.#clock)
  }

  /** The store's result, or undefined if it failed or took too long; `onLate` gets a result that arrives after that. */
  async run<Value>(
    operation: string,
    call: (store: TokenStore, key: string) => Promise<Value>,
    onLate?: (value: Value) => unknown,
  ): Promise<Value | undefined> {
    if (this.over) return undefined
    // Waiting for other callers of this process is not the store's fault: its time starts now.
    const done = await this.#health.enter()
    try {
      if (this.over) return undefined
      const value = await this.#within(call, onLate)
      if (this.#health.succeeded(this.#key)) this.#emit({ type: 'store_recovered' })
      return value
    } catch (error) {
      this.#failed = true
      this.#health.failed(error, this.#key, this.#clock)
      this.#emit({ type: 'store_unavailable', operation, cause: errorCode(error) })
      return undefined
    } finally {
      done()
    }
  }

  /** Gives up only one turn of the event loop after the time has passed: if the process was blocked, the result is here. */
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
    const start = this.#clock.monotonic()
    let late = false
    try {
      const value = await waitFor(work, operationMs, undefined, () => void (late = true))
      if (!late) return value
      const blocked = this.#clock.monotonic() - start > operationMs + 20
      return await waitFor(work, blocked ? graceMs : 0, undefined, slowStoreError)
    } catch (error) {
      abandoned = true
      throw error
    }
  }
}
