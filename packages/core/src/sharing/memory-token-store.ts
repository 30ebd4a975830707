import { elapsedSince, readInstant, systemClock, type Instant } from '../runtime/clock.ts'
import type { TokenFailure } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import { tokenSharing } from './token-sharing.ts'
import type { TokenStore } from './token-store.ts'

interface Expiring {
  readonly since: Instant
  readonly ms: number
}

/** Values that are removed once they expire, even if nobody reads them again. */
class ExpiringMap<Value extends Expiring> {
  readonly #values = new Map<string, Value>()
  #sweepAt = 100

  get(key: string): { readonly value: Value; readonly remainingMs: number } | undefined {
    const value = this.#values.get(key)
    const remainingMs = value ? value.ms - elapsedSince(value.since, systemClock) : 0
    if (value !== undefined && remainingMs > 0) return { value, remainingMs }
    this.#values.delete(key)
    return undefined
  }

  set(key: string, value: Value): void {
    this.#values.set(key, value)
    if (this.#values.size < this.#sweepAt) return
    for (const key of this.#values.keys()) this.get(key)
    // Twice the remaining size, so that sweeping costs each write a constant amount.
    this.#sweepAt = Math.max(100, 2 * this.#values.size)
  }

  delete(key: string): void {
    this.#values.delete(key)
  }
}

/** A store in this process's memory: providers with the same store share their tokens. */
export function createMemoryTokenStore(): TokenStore {
  const tokens = new ExpiringMap<Expiring & { readonly id: string; readonly response: TokenResponse }>()
  const cooldowns = new ExpiringMap<Expiring & { readonly error: TokenFailure }>()
  const leases = new ExpiringMap<Expiring>()

  return {
    sharing: tokenSharing,
    async read(key) {
      const token = tokens.get(key)
      const found = cooldowns.get(key)
      const cooldown = found && { cooldownMs: found.remainingMs, error: found.value.error }
      if (token === undefined) return cooldown
      const { id, response } = token.value
      return { id, response, remainingMs: token.remainingMs, ...cooldown }
    },
    async remove(key, id) {
      if (tokens.get(key)?.value.id === id) tokens.delete(key)
    },
    async lease(key, ttlMs, slot) {
      const leaseKey = JSON.stringify([slot, key])
      if (leases.get(leaseKey)) return undefined
      const since = readInstant(systemClock)
      let own: Expiring = { since, ms: ttlMs }
      leases.set(leaseKey, own)
      const isCurrent = (): boolean => leases.get(leaseKey)?.value === own
      return {
        async write(response, ms) {
          if (!isCurrent()) return undefined
          const id = crypto.randomUUID()
          // The moment of the lease by the wall clock as it is now: it may have been set back.
          const now = readInstant(systemClock)
          const wall = Math.min(since.wall, now.wall - (now.monotonic - since.monotonic))
          tokens.set(key, { since: { ...since, wall }, ms, id, response })
          cooldowns.delete(key)
          return id
        },
        async writeCooldown(error, ms) {
          if (isCurrent()) cooldowns.set(key, { since: readInstant(systemClock), ms, error })
        },
        async extend(ms) {
          if (!isCurrent()) return false
          own = { since: readInstant(systemClock), ms }
          leases.set(leaseKey, own)
          return true
        },
        async release() {
          if (isCurrent()) leases.delete(leaseKey)
        },
      }
    },
  }
}
