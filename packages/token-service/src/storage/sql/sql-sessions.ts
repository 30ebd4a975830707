import type { SessionStorage } from '../developer-storage.ts'
import { countDeleted, type Database } from './database.ts'
import { toDeveloper } from './sql-developers.ts'

export function createSqlSessions({ query }: Database): SessionStorage {
  return {
    async open(session) {
      await query.insertInto('sessions').values(session).execute()
    },
    async find(hash, nowMs) {
      const row = await query
        .selectFrom('sessions')
        .innerJoin('developers', 'developers.id', 'sessions.developerId')
        .selectAll('developers')
        .where('hash', '=', hash)
        .where('expiresAtMs', '>', nowMs)
        .executeTakeFirst()
      return row && toDeveloper(row)
    },
    async close(hash) {
      await query.deleteFrom('sessions').where('hash', '=', hash).execute()
    },
    async closeAll(developerId) {
      await query.deleteFrom('sessions').where('developerId', '=', developerId).execute()
    },
    purge: (nowMs) => countDeleted(query.deleteFrom('sessions').where('expiresAtMs', '<=', nowMs)),
  }
}
