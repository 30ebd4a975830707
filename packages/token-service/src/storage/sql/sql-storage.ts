import { sql } from 'drizzle-orm'
import type { Storage } from '../storage.ts'
import { reportFailures } from '../storage-failure.ts'
import type { Database } from './database.ts'
import { createSqlActivity } from './sql-activity.ts'
import { createSqlApplications } from './sql-applications.ts'
import { createSqlDevelopers } from './sql-developers.ts'
import { createSqlFailures } from './sql-failures.ts'
import { createSqlProjects } from './sql-projects.ts'
import { createSqlSessions } from './sql-sessions.ts'
import { createSqlTokens } from './sql-tokens.ts'

/** Keeps everything in an SQL database that is up to date. */
export function createSqlStorage(database: Database, close: () => Promise<void>): Storage {
  return reportFailures({
    projects: createSqlProjects(database),
    applications: createSqlApplications(database),
    tokens: createSqlTokens(database),
    failures: createSqlFailures(database),
    activity: createSqlActivity(database),
    developers: createSqlDevelopers(database),
    sessions: createSqlSessions(database),
    async ready() {
      await database.execute(sql`select 1`)
    },
    close,
  })
}
