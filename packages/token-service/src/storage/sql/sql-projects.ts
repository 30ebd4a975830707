import { asc, eq } from 'drizzle-orm'
import type { ProjectStorage } from '../storage.ts'
import type { Database } from './database.ts'
import { projects } from './schema.ts'

export function createSqlProjects(database: Database): ProjectStorage {
  return {
    list: async () => await database.select().from(projects).orderBy(asc(projects.createdAtMs)),
    async create(project) {
      await database.insert(projects).values(project).onConflictDoNothing()
    },
    async update(id, changes) {
      await database.update(projects).set(changes).where(eq(projects.id, id))
    },
  }
}
