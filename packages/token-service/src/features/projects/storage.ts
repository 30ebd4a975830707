import { setImmediate as nextTurn } from 'node:timers/promises'
import { projectNameKey, type Deletion, type Project } from '../../storage/application.ts'
import { nameColumns } from '../../storage/folded-name.ts'
import { toProject } from '../../storage/registered-client.ts'
import { anyOf, countDeleted, oneAfterAnother, type Database } from '../../storage/database.ts'

export type ProjectChanges = Partial<Omit<Project, 'id' | 'createdAtMs' | keyof Deletion>> & Deletion

export function projectStorage(database: Database) {
  const { query } = database
  return {
    async list(): Promise<Project[]> {
      const rows = await query.selectFrom('projects').selectAll().orderBy('createdAtMs').execute()
      return rows.map(toProject)
    },
    async find(id: string): Promise<Project | undefined> {
      const row = await query.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toProject(row)
    },
    /** The one whose name has the same {@link projectNameKey}. */
    async findByName(name: string): Promise<Project | undefined> {
      const named = query.selectFrom('projects').selectAll().where('nameKey', '=', projectNameKey(name))
      const row = await named.executeTakeFirst()
      return row && toProject(row)
    },
    /** `false` if a project with that ID or name exists. */
    async create(project: Project): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('projects')
        .values({ ...project, ...nameColumns(project.name), nameKey: projectNameKey(project.name) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows !== 0n
    },
    async update(id: string, changes: ProjectChanges): Promise<void> {
      const { name } = changes
      const names = name === undefined ? {} : { ...nameColumns(name), nameKey: projectNameKey(name) }
      await query
        .updateTable('projects')
        .set({ ...changes, ...names })
        .where('id', '=', id)
        .execute()
    },

    // Memberships are deleted with them.
    /** Deletes the projects and applications that can no longer be restored, in bounded steps; returns how many. */
    async purge(nowMs: number): Promise<number> {
      for (let purged = 0; ; await nextTurn()) {
        const deleted = await oneAfterAnother(database, (transaction) =>
          purgeStep({ ...database, query: transaction }, nowMs),
        )
        purged += deleted
        if (deleted === 0) return purged
      }
    },
  }
}

const purgeSize = 200

/** Applications first: those of projects that are deleted, too. */
async function purgeStep(database: Database, nowMs: number): Promise<number> {
  const { query } = database
  const projects = query.selectFrom('projects').select('id').where('deletesAtMs', '<=', nowMs)
  const applications = query.selectFrom('applications').select('id')
  // A union, because PostgreSQL uses no index for an `or` with a subquery.
  const found = await applications
    .where('deletesAtMs', '<=', nowMs)
    .union(applications.where('projectId', 'in', projects))
    .limit(purgeSize)
    .execute()
  if (found.length === 0)
    return countDeleted(query.deleteFrom('projects').where('id', 'in', projects.limit(purgeSize)))
  const ids = anyOf(
    database,
    found.map(({ id }) => id),
  )
  await query.deleteFrom('secrets').where('ownerId', 'in', ids).execute()
  return countDeleted(query.deleteFrom('applications').where('id', 'in', ids))
}
