import { createHash } from 'node:crypto'
import type { Introspection } from './introspect-token.ts'

export interface IntrospectionCacheOptions {
  /** How long a response is cached. */
  readonly lifetimeMs: number
  readonly maxEntries: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

interface Entry {
  readonly introspection: Introspection
  readonly expiresAt: number
}

/** Caches introspection responses for a short time, under a hash of the token. Concurrent calls share one request. */
export function createIntrospectionCache(
  introspect: (token: string) => Promise<Introspection>,
  { lifetimeMs, maxEntries, now }: IntrospectionCacheOptions,
): (token: string) => Promise<Introspection> {
  const entries = new Map<string, Entry>()
  const pending = new Map<string, Promise<Introspection>>()

  const request = async (key: string, token: string): Promise<Introspection> => {
    const requestedAt = now()
    try {
      const introspection = await introspect(token)
      const expiresAt = Math.min(requestedAt + lifetimeMs, introspection.expiresAt ?? Infinity)
      entries.delete(key)
      entries.set(key, { introspection, expiresAt })
      const [oldest] = entries.keys()
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
      return introspection
    } finally {
      pending.delete(key)
    }
  }

  return (token) => {
    const key = createHash('sha256').update(token).digest('base64url')
    const entry = entries.get(key)
    if (entry && now() < entry.expiresAt) return Promise.resolve(entry.introspection)
    const response = pending.get(key) ?? request(key, token)
    pending.set(key, response)
    return response
  }
}
