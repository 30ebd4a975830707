import type { ProjectStorage } from '../storage.ts'
import { toProject } from './client-rows.ts'
import type { Database } from './database.ts'

export function createSqlProjects({ query }: Database): ProjectStorage {
  return {
    async list() {
      const rows = await query.selectFrom('projects').selectAll().orderBy('createdAtMs').execute()
      return rows.map(toProject)
    },
    async create(project) {
      await query
        .insertInto('projects')
        .values(project)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    async update(id, changes) {
      await query.updateTable('projects').set(changes).where('id', '=', id).execute()
    },
    async purge(nowMs) {
      // Secrets and memberships are deleted with them.
      const deleted = await Promise.all(
        (['applications', 'projects'] as const).map((table) =>
          query.deleteFrom(table).where('deletesAtMs', '<=', nowMs).executeTakeFirstOrThrow(),
        ),
      )
      return deleted.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0)
    },
  }
}
