import type { StoredToken, TokenStorage } from '../storage.ts'
import type { MemoryRegistry } from './memory-registry.ts'

export function createMemoryTokens(findOwner: MemoryRegistry['find']): TokenStorage {
  const tokens = new Map<string, StoredToken>()
  return {
    async save(token) {
      tokens.set(token.hash, token)
    },
    async find(hash) {
      const token = tokens.get(hash)
      const owner = token && findOwner(token.applicationId, token.secretId)
      return owner && { token, application: owner.application, secretExpiresAtMs: owner.secret.expiresAtMs }
    },
    async remove(hash) {
      tokens.delete(hash)
    },
    async purge(nowMs) {
      const before = tokens.size
      for (const token of tokens.values()) if (token.expiresAtMs <= nowMs) tokens.delete(token.hash)
      return before - tokens.size
    },
    async clear() {
      tokens.clear()
    },
  }
}
