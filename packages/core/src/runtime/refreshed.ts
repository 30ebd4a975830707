import { dropsBackgroundWork } from './environment.ts'
import { elapsedSince, readInstant, systemClock, type Clock, type Instant } from './clock.ts'
import { waitFor } from './wait.ts'

/** How a value is cached. Times in milliseconds. */
export interface RefreshedOptions<Value> {
  /** How long a value is used before it is loaded again, counted from when its loading began. */
  readonly maxAgeMs: number | ((value: Value) => number)
  /** How much longer a value is used while it cannot be loaded again. 0 for whatever is about one token. */
  readonly keepMs: number | ((value: Value) => number)
  /** How long nothing is loaded after a failure: callers get the same error, or the value that is kept. */
  readonly pauseMs: number
  /**
   * How long loading is shared: later callers load again, because a runtime may have dropped the request. `load` has its
   * own deadline, with the error that its callers get.
   */
  readonly timeoutMs: number
  /** How long callers wait for a new value while another one is kept. @default until it is loaded or has failed */
  readonly patienceMs?: number | undefined
  /** Whether the value is kept after this error. @default after every one */
  readonly keepsAfter?: ((error: unknown) => boolean) | undefined
  /** Whether callers share what is pending. @default unless the runtime drops work of a request that has ended */
  readonly shares?: boolean | undefined
  /** Keeps what is pending alive (Cloudflare Workers), so that it can be shared there. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** @default the system clocks */
  readonly clock?: Clock | undefined
}

/** A value that is cached, loaded once for all callers, and kept for a while if it cannot be loaded again. */
export interface Refreshed<Value extends object, Parameters extends readonly unknown[]> {
  /** The value if it can be used without being loaded again. */
  peek(): Value | undefined
  /** The value; loaded, with these parameters, if necessary. */
  get(...parameters: Parameters): Promise<Value>
  /** A value that is newer than this one: the cached one, the one that is being loaded, or another one. */
  next(than: Value, ...parameters: Parameters): Promise<Value>
  /** Loads with the next call. The value is still kept in case that fails. */
  expire(): void
}

/**
 * Caches what `load` returns: one request for all callers, none for a while after a failure, and the former value while
 * its origin is down.
 *
 * @example
 * const keys = refreshed(loadKeys, { maxAgeMs: 600_000, keepMs: 3_600_000, pauseMs: 5_000, timeoutMs: 5_000 })
 * await keys.get()
 */
export function refreshed<Value extends object, Parameters extends readonly unknown[] = []>(
  load: (...parameters: Parameters) => Promise<Value>,
  options: RefreshedOptions<Value>,
): Refreshed<Value, Parameters> {
  return new RefreshedValue(load, options)
}

/** A class, because a verifier has one for each of thousands of tokens. */
class RefreshedValue<Value extends object, Parameters extends readonly unknown[]> implements Refreshed<
  Value,
  Parameters
> {
  readonly #load: (...parameters: Parameters) => Promise<Value>
  readonly #options: RefreshedOptions<Value>
  readonly #clock: Clock
  /** Counts loads: one that began later and was abandoned may end first. */
  #begun = 0
  #loaded: { readonly value: Value; readonly since: Instant; readonly number: number } | undefined
  #failed: { readonly error: unknown; readonly since: Instant } | undefined
  #pending: Pending<Value> | undefined
  #isExpired = false

  constructor(load: (...parameters: Parameters) => Promise<Value>, options: RefreshedOptions<Value>) {
    this.#load = load
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  peek(): Value | undefined {
    return this.#isExpired ? undefined : this.#youngerThan(this.#options.maxAgeMs)
  }

  async get(...parameters: Parameters): Promise<Value> {
    const current = this.peek()
    if (current) return current
    const { patienceMs = Infinity, keepsAfter } = this.#options
    try {
      const next = this.#join(parameters)
      const kept = this.#kept()
      if (kept === undefined || patienceMs === Infinity) return await next
      const pendingMs = this.#pending ? elapsedSince(this.#pending.since, this.#clock) : 0
      if (pendingMs < patienceMs) {
        const newer = await waitFor<Value | undefined>(next, patienceMs - pendingMs, undefined, noop)
        return newer ?? kept
      }
      next.catch(noop)
      return kept
    } catch (error) {
      const kept = this.#kept()
      if (kept && (keepsAfter?.(error) ?? true)) return kept
      throw error
    }
  }

  next(than: Value, ...parameters: Parameters): Promise<Value> {
    const current = this.peek()
    return current && current !== than ? Promise.resolve(current) : this.#join(parameters)
  }

  expire(): void {
    this.#isExpired = true
  }

  #kept(): Value | undefined {
    const { maxAgeMs, keepMs } = this.#options
    return this.#youngerThan((value) => millisecondsOf(maxAgeMs, value) + millisecondsOf(keepMs, value))
  }

  #youngerThan(ms: RefreshedOptions<Value>['maxAgeMs']): Value | undefined {
    const loaded = this.#loaded
    if (loaded === undefined) return undefined
    return elapsedSince(loaded.since, this.#clock) < millisecondsOf(ms, loaded.value)
      ? loaded.value
      : undefined
  }

  #join(parameters: Parameters): Promise<Value> {
    const { pauseMs, timeoutMs, shares, waitUntil } = this.#options
    if (this.#failed && elapsedSince(this.#failed.since, this.#clock) < pauseMs) {
      return Promise.reject(this.#failed.error)
    }
    const known = this.#pending
    if (known?.result && elapsedSince(known.since, this.#clock) < timeoutMs) return known.result
    const pending: Pending<Value> = { since: readInstant(this.#clock) }
    if (shares ?? (waitUntil !== undefined || !dropsBackgroundWork())) this.#pending = pending
    const result = this.#begin(parameters, pending)
    pending.result = result
    if (this.#pending === pending) waitUntil?.(result.catch(noop))
    return result
  }

  async #begin(parameters: Parameters, pending: Pending<Value>): Promise<Value> {
    const number = ++this.#begun
    const isNewer = (): boolean => number > (this.#loaded?.number ?? 0)
    try {
      const value = await this.#load(...parameters)
      if (isNewer()) {
        this.#loaded = { value, since: pending.since, number }
        this.#failed = undefined
        this.#isExpired = false
      }
      return value
    } catch (error) {
      if (isNewer()) this.#failed = { error, since: readInstant(this.#clock) }
      throw error
    } finally {
      if (this.#pending === pending) this.#pending = undefined
    }
  }
}

interface Pending<Value> {
  readonly since: Instant
  result?: Promise<Value>
}

function noop(): undefined {}

function millisecondsOf<Value>(ms: number | ((value: Value) => number), value: Value): number {
  return typeof ms === 'function' ? ms(value) : ms
}
