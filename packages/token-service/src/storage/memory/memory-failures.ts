import type { FailureStorage } from '../storage.ts'

// Failures with many different client IDs must not fill the memory: the oldest counts are deleted first.
const maxKeys = 10_000

export function createMemoryFailures(): FailureStorage {
  const failures = new Map<string, { count: number; resetsAtMs: number }>()

  function current(key: string, nowMs: number): { count: number; resetsAtMs: number } | undefined {
    const known = failures.get(key)
    return known && known.resetsAtMs > nowMs ? known : undefined
  }

  return {
    async find(key, nowMs) {
      return failures.size === 0 ? undefined : current(key, nowMs)
    },
    async add(key, nowMs, windowMs) {
      const { count, resetsAtMs } = current(key, nowMs) ?? { count: 0, resetsAtMs: nowMs + windowMs }
      const counted = { count: count + 1, resetsAtMs }
      failures.delete(key)
      failures.set(key, counted)
      const [oldest] = failures.keys()
      if (failures.size > maxKeys) failures.delete(oldest!)
      return counted
    },
    async purge(nowMs) {
      const before = failures.size
      for (const [key, { resetsAtMs }] of failures) if (resetsAtMs <= nowMs) failures.delete(key)
      return before - failures.size
    },
    async clear() {
      failures.clear()
    },
  }
}
