import type { ProjectStorage } from '../storage.ts'
import type { Database } from './database.ts'

export function createSqlProjects({ query }: Database): ProjectStorage {
  return {
    list: () => query.selectFrom('projects').selectAll().orderBy('createdAtMs').execute(),
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
  }
}
