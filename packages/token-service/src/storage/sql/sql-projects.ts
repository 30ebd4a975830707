import { projectNameKey } from '../application.ts'
import type { ProjectStorage } from '../storage.ts'
import { nameColumns } from '../folded-name.ts'
import { toProject } from './sql-applications.ts'
import { anyOf, countDeleted, inTransaction, type Database } from './database.ts'

export function createSqlProjects(database: Database): ProjectStorage {
  const { query } = database
  return {
    async list() {
      const rows = await query.selectFrom('projects').selectAll().orderBy('createdAtMs').execute()
      return rows.map(toProject)
    },
    async find(id) {
      const row = await query.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toProject(row)
    },
    async findByName(name) {
      const named = query.selectFrom('projects').selectAll().where('nameKey', '=', projectNameKey(name))
      const row = await named.executeTakeFirst()
      return row && toProject(row)
    },
    async create(project) {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('projects')
        .values({ ...project, ...nameColumns(project.name), nameKey: projectNameKey(project.name) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows !== 0n
    },
    async update(id, changes) {
      const { name } = changes
      const names = name === undefined ? {} : { ...nameColumns(name), nameKey: projectNameKey(name) }
      await query
        .updateTable('projects')
        .set({ ...changes, ...names })
        .where('id', '=', id)
        .execute()
    },

    // Memberships are deleted with them.
    purge: (nowMs) =>
      inTransaction(query, async (transaction) => {
        const projects = transaction.selectFrom('projects').select('id').where('deletesAtMs', '<=', nowMs)
        const applications = transaction.selectFrom('applications').select('id')
        // A union, because PostgreSQL uses no index for an `or` with a subquery.
        const found = await applications
          .where('deletesAtMs', '<=', nowMs)
          .union(applications.where('projectId', 'in', projects))
          .execute()
        const ids = found.map(({ id }) => id)
        await transaction.deleteFrom('applications').where('id', 'in', anyOf(database, ids)).execute()
        await transaction.deleteFrom('secrets').where('ownerId', 'in', anyOf(database, ids)).execute()
        const deleted = transaction.deleteFrom('projects').where('deletesAtMs', '<=', nowMs)
        return ids.length + (await countDeleted(deleted))
      }),
  }
}
