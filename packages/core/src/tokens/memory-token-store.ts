import { elapsedSince, readInstant, systemClock, type Instant } from '../platform/clock.ts'
import type { TokenFailure } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import type { TokenStore } from './token-store.ts'

interface Span {
  readonly since: Instant
  readonly ms: number
}

/** A store in this process's memory: providers given the same one share their tokens. */
export function createMemoryTokenStore(): TokenStore {
  const tokens = new Map<string, Span & { readonly id: string; readonly response: TokenResponse }>()
  const holds = new Map<string, Span & { readonly error: TokenFailure }>()
  const leases = new Map<string, Span>()

  function current<Value extends Span>(map: Map<string, Value>, key: string) {
    const value = map.get(key)
    const leftMs = value ? value.ms - elapsedSince(value.since, systemClock) : 0
    if (value !== undefined && leftMs > 0) return { value, leftMs }
    map.delete(key)
    return undefined
  }

  return {
    async read(key) {
      const token = current(tokens, key)
      const hold = current(holds, key)
      const held = hold && { cooldownMs: hold.leftMs, error: hold.value.error }
      if (token === undefined) return held
      return { id: token.value.id, response: token.value.response, remainingMs: token.leftMs, ...held }
    },
    async remove(key, id) {
      if (tokens.get(key)?.id === id) tokens.delete(key)
    },
    async lease(key, ttlMs) {
      if (current(leases, key)) return undefined
      const since = readInstant(systemClock)
      let mine: Span = { since, ms: ttlMs }
      leases.set(key, mine)
      const held = (): boolean => current(leases, key)?.value === mine
      return {
        async write(response, ms) {
          if (!held()) return undefined
          const id = crypto.randomUUID()
          tokens.set(key, { since, ms, id, response })
          holds.delete(key)
          return id
        },
        async writeCooldown(error, ms) {
          if (held()) holds.set(key, { since: readInstant(systemClock), ms, error })
        },
        async extend(ms) {
          if (!held()) return false
          mine = { since: readInstant(systemClock), ms }
          leases.set(key, mine)
          return true
        },
        async release() {
          if (held()) leases.delete(key)
        },
      }
    },
  }
}
