import { Migrator, type Migration } from 'kysely/migration'
import { UsageError } from '../../runtime/usage-error.ts'
import type { Database } from './database.ts'
import { migrationsFor } from './migrations.ts'

/** Brings the database up to date. If several instances start at the same time, one migrates and the others wait. */
export async function migrate(
  { kind, query }: Database,
  migrations: Record<string, Migration> = migrationsFor(kind),
): Promise<void> {
  const migrator = new Migrator({
    db: query,
    provider: { getMigrations: async () => migrations },
    migrationTableName: 'tokenwell_migrations',
    migrationLockTableName: 'tokenwell_migration_lock',
  })
  const { error } = await migrator.migrateToLatest()
  if (error === undefined) return
  const unknown = /previously executed migration (\S+) is missing/.exec(
    error instanceof Error ? error.message : '',
  )?.[1]
  if (unknown === undefined) throw error
  throw new UsageError(
    `The database was migrated by a newer version of this program: migration "${unknown}" is unknown. ` +
      `Start the newer version, or restore an older backup.`,
  )
}
