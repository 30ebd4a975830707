import { and, eq, gt, lte } from 'drizzle-orm'
import type { SessionStorage } from '../developer-storage.ts'
import type { Database } from './database.ts'
import { developers, sessions } from './schema.ts'

export function createSqlSessions(database: Database): SessionStorage {
  return {
    async open(session) {
      await database.insert(sessions).values(session)
    },
    async find(hash, nowMs) {
      const [found] = await database
        .select({ developer: developers })
        .from(sessions)
        .innerJoin(developers, eq(developers.id, sessions.developerId))
        .where(and(eq(sessions.hash, hash), gt(sessions.expiresAtMs, nowMs)))
      return found?.developer
    },
    async close(hash) {
      await database.delete(sessions).where(eq(sessions.hash, hash))
    },
    async closeAll(developerId) {
      await database.delete(sessions).where(eq(sessions.developerId, developerId))
    },
    async purge(nowMs) {
      const deleted = await database
        .delete(sessions)
        .where(lte(sessions.expiresAtMs, nowMs))
        .returning({ expiresAtMs: sessions.expiresAtMs })
      return deleted.length
    },
  }
}
