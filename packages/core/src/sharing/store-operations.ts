import { longestCooldownMs } from '../protocol/backoff.ts'
import type { TokenFailure } from '../protocol/token-error.ts'
import { isAccessToken, type TokenResponse } from '../protocol/token-response.ts'
import { elapsedSince, readInstant, type Clock, type Instant } from '../runtime/clock.ts'
import { errorCode } from '../runtime/error-code.ts'
import { LruMap } from '../runtime/lru-map.ts'
import { waitFor } from '../runtime/wait.ts'
import type { TokenSource } from '../protocol/token-source.ts'
import {
  SharedFailure,
  type StoredCooldown,
  type StoredToken,
  type TokenLease,
  type TokenStore,
} from './token-store.ts'

/** What happened to a store. */
export type StoreEvent =
  | { readonly type: 'store_unavailable'; readonly operation: string; readonly cause: string }
  | { readonly type: 'store_recovered' }

/** A provider, as far as the operations on its store concern it. */
export interface StoreUser {
  readonly source: TokenSource
  readonly settings: { readonly clock: Clock; readonly timeoutMs: number; readonly attemptTimeoutMs: number }
  readonly emit: (event: StoreEvent) => void
  /** Called when an operation has to wait for its turn, for up to `ms`. */
  expectProgress?(ms: number): void
}

const tickMs = 20
/** An operation may take 200 ms, and one tick more, because its response may be here by then. */
const maxTicks = 200 / tickMs + 1
/** How many operations a process runs on a store at a time: with more, the limit would measure the process itself. */
const maxConcurrent = 400
const maxKeys = 1_000

/** A pause after failures: 1 s, growing to 30 s. */
interface Pause {
  readonly failures: number
  readonly since: Instant
  readonly ms: number
}

/** What all providers with the same store know about it. */
class StoreHealth {
  /** By key; undefined for the whole store. */
  readonly #pauses = new LruMap<string | undefined, Pause>(maxKeys)
  #respondedAt = Number.NEGATIVE_INFINITY
  #running = 0
  readonly #waiting: (() => void)[] = []

  isPaused(key: string, clock: Clock): boolean {
    return isActive(this.#pauses.get(undefined), clock) || isActive(this.#pauses.get(key), clock)
  }

  /** @param start when the operation began, by the monotonic clock */
  failed(error: unknown, key: string, clock: Clock, start: number): void {
    const { scope, code } = Object(error) as { scope?: unknown; code?: unknown }
    // A store that has responded in the meantime, such as a cluster that has lost one node, is not slow.
    const isOfKey = scope === 'key' || (code === 'slow' && this.#respondedAt > start)
    const of = isOfKey ? key : undefined
    const pause = this.#pauses.get(of)
    // Failures that arrive together count once.
    if (isActive(pause, clock)) return
    const failures = (pause?.failures ?? 0) + 1
    this.#pauses.set(of, {
      failures,
      since: readInstant(clock),
      ms: Math.min(30_000, 1_000 * 2 ** (failures - 1)),
    })
  }

  /** Returns whether the store or the key had failed before. */
  succeeded(key: string, clock: Clock): boolean {
    this.#respondedAt = clock.monotonic()
    const ofStore = this.#pauses.delete(undefined)
    return (this.#pauses.delete(key) ?? ofStore) !== undefined
  }

  /** Waits until an operation may run. */
  async enter(onWait: () => void): Promise<void> {
    if (this.#running < maxConcurrent) this.#running++
    else {
      onWait()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running--
  }
}

function isActive(pause: Pause | undefined, clock: Clock): boolean {
  return pause !== undefined && elapsedSince(pause.since, clock) < pause.ms
}

const healths = new WeakMap<TokenStore, StoreHealth>()

/** The error of a store operation that takes too long. */
export function slowStoreError(): Error {
  return Object.assign(new Error(), { code: 'slow' })
}

/** The operations on one key of a store. Each has a time limit, and none is run for a while after a failure. */
export class StoreOperations {
  readonly #store: TokenStore
  readonly #key: string
  readonly #user: StoreUser
  readonly #health: StoreHealth

  constructor(store: TokenStore, key: string, user: StoreUser) {
    this.#store = store
    this.#key = key
    this.#user = user
    this.#health = healths.get(store) ?? new StoreHealth()
    healths.set(store, this.#health)
  }

  /** Whether the store must not be used, because it has failed recently. */
  get paused(): boolean {
    return this.#health.isPaused(this.#key, this.#user.settings.clock)
  }

  /** The stored token, cooldown, or both, as far as they are valid; neither if the store fails. */
  async read(): Promise<{ readonly token?: StoredToken; readonly failure?: SharedFailure | undefined }> {
    const entry: Partial<StoredToken & StoredCooldown> | undefined = await this.#run('read', () =>
      this.#store.read(this.#key),
    )
    if (typeof entry !== 'object' || entry === null) return {}
    const { response, remainingMs } = entry
    const isToken = isAccessToken(response?.accessToken) && typeof remainingMs === 'number' && remainingMs > 0
    return { ...(isToken && { token: entry as StoredToken }), failure: readCooldown(entry) }
  }

  /** Undefined while another process has it, or if the store fails. */
  lease(ttlMs: number, slot?: 'fallback'): Promise<TokenLease | undefined> {
    return this.#run(
      'lease',
      async () => {
        const lease = await this.#store.lease(this.#key, ttlMs, slot)
        if (lease && typeof lease.write !== 'function')
          throw Object.assign(new Error(), { code: 'invalid_lease' })
        return lease ?? undefined
      },
      (late) => late?.release(),
    )
  }

  /** The ID of the entry, if the token was stored. */
  write(lease: TokenLease, response: TokenResponse, lifetimeMs: number): Promise<string | undefined> {
    return this.#run('write', () => lease.write(response, lifetimeMs))
  }

  async writeCooldown(lease: TokenLease, failure: TokenFailure, ms: number): Promise<void> {
    await this.#run('cooldown', () => lease.writeCooldown(failure, ms))
  }

  /** Even while the store is paused: the other processes should not have to wait until the lease expires. */
  async release(lease: TokenLease, ttlMs: number): Promise<void> {
    if (this.paused) await waitFor(lease.release(), ttlMs, undefined, () => undefined)
    else await this.#run('release', () => lease.release())
  }

  /** Removes an entry unless another one has replaced it. */
  async remove(id: string): Promise<void> {
    await this.#run('remove', () => this.#store.remove(this.#key, id))
  }

  /** The store's result, or undefined if it failed or took too long; `onLate` gets a result that arrives after that. */
  async #run<Value>(
    operation: string,
    call: () => Promise<Value>,
    onLate?: (value: Value) => unknown,
  ): Promise<Value | undefined> {
    const { emit, settings } = this.#user
    const { clock, timeoutMs } = settings
    if (this.paused) return undefined
    await this.#health.enter(() => this.#user.expectProgress?.(timeoutMs))
    const start = clock.monotonic()
    try {
      // It may have failed while this operation waited for its turn.
      if (this.paused) return undefined
      const value = await withinTicks(call, onLate)
      if (this.#health.succeeded(this.#key, clock)) emit({ type: 'store_recovered' })
      return value
    } catch (error) {
      this.#health.failed(error, this.#key, clock, start)
      emit({ type: 'store_unavailable', operation, cause: errorCode(error) })
      return undefined
    } finally {
      this.#health.leave()
    }
  }
}

/** The failure of a stored cooldown. One that is longer than our own rules allow was not written by this package. */
function readCooldown({ error, cooldownMs }: Partial<StoredCooldown>): SharedFailure | undefined {
  if (typeof error?.message !== 'string' || typeof cooldownMs !== 'number' || !isShared(error)) {
    return undefined
  }
  // Including jitter.
  const longestMs = 1.25 * longestCooldownMs(error.kind)
  return cooldownMs > 0 && cooldownMs <= longestMs ? new SharedFailure(error, cooldownMs) : undefined
}

/** Whether other processes would meet the same failure; one that has no cooldown is not shared anyway. */
export function isShared({ kind }: Pick<TokenFailure, 'kind'>): boolean {
  return kind !== 'configuration'
}

/**
 * Counts ticks instead of reading a clock: while this process is busy, it can neither send nor receive, and a late tick
 * counts once.
 */
function withinTicks<Value>(
  call: () => Promise<Value>,
  onLate: ((value: Value) => unknown) | undefined,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let ticks = 0
    const timer = setInterval(() => {
      if (++ticks < maxTicks) return
      clearInterval(timer)
      reject(slowStoreError())
    }, tickMs)
    const work = async (): Promise<void> => {
      try {
        const value = await call()
        if (ticks < maxTicks) resolve(value)
        else await onLate?.(value)
      } catch (error) {
        reject(error)
      } finally {
        clearInterval(timer)
      }
    }
    void work()
  })
}
