import { createHash } from 'node:crypto'
import type { Introspection } from './introspect-token.ts'

export interface IntrospectionCacheOptions {
  /** How long an answer may be used again. */
  readonly lifetimeMs: number
  readonly maxEntries: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

interface Entry {
  readonly introspection: Introspection
  readonly usableUntil: number
}

/** Remembers answers for a moment, under a hash of the token, and lets concurrent questions about one token share one. */
export function createIntrospectionCache(
  introspect: (token: string) => Promise<Introspection>,
  { lifetimeMs, maxEntries, now }: IntrospectionCacheOptions,
): (token: string) => Promise<Introspection> {
  const entries = new Map<string, Entry>()
  const asked = new Map<string, Promise<Introspection>>()

  const ask = async (key: string, token: string): Promise<Introspection> => {
    const askedAt = now()
    try {
      const introspection = await introspect(token)
      const usableUntil = Math.min(askedAt + lifetimeMs, introspection.expiresAt ?? Infinity)
      entries.delete(key)
      entries.set(key, { introspection, usableUntil })
      const [oldest] = entries.keys()
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
      return introspection
    } finally {
      asked.delete(key)
    }
  }

  return (token) => {
    const key = createHash('sha256').update(token).digest('base64url')
    const entry = entries.get(key)
    if (entry && now() < entry.usableUntil) return Promise.resolve(entry.introspection)
    const question = asked.get(key) ?? ask(key, token)
    asked.set(key, question)
    return question
  }
}
