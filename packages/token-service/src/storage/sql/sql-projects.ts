import type { ProjectStorage } from '../storage.ts'
import { toProject } from './client-rows.ts'
import { countDeleted, type Database } from './database.ts'

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
    // Secrets and memberships are deleted with them.
    purge: (nowMs) =>
      countDeleted(
        query.deleteFrom('applications').where('deletesAtMs', '<=', nowMs),
        query.deleteFrom('projects').where('deletesAtMs', '<=', nowMs),
      ),
  }
}
