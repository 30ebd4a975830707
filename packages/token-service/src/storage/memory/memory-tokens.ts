import type { Application } from '../../applications/application.ts'
import type { StoredToken, TokenStorage } from '../storage.ts'

export function createMemoryTokens(findApplication: (id: string) => Application | undefined): TokenStorage {
  const tokens = new Map<string, StoredToken>()
  return {
    async save(token) {
      tokens.set(token.hash, token)
    },
    async find(hash) {
      const token = tokens.get(hash)
      const application = token && findApplication(token.applicationId)
      return application && { token, application }
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
