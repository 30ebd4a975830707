import type { AssertionStorage } from '../storage.ts'

export function createMemoryAssertions(): AssertionStorage {
  const used = new Map<string, number>()
  return {
    async use(assertion, expiresAtMs) {
      if (used.has(assertion)) return false
      used.set(assertion, expiresAtMs)
      return true
    },
    async purge(nowMs) {
      const before = used.size
      for (const [assertion, expiresAtMs] of used) if (expiresAtMs <= nowMs) used.delete(assertion)
      return before - used.size
    },
  }
}
