import { sql } from 'drizzle-orm'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { UserMistake } from '../../user-mistake.ts'
import type { Database } from './database.ts'

export interface Migration {
  readonly id: number
  readonly name: string
  readonly statements: readonly string[]
}

const applied = pgTable('tokenwell_migrations', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
})

// Any number will do, so long as every instance takes the same one.
const lockId = 7_221_843_554

/** Brings the database up to date; of several instances that start at once, one does it and the others wait. */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.execute(sql`select pg_advisory_xact_lock(${lockId})`)
    await transaction.execute(
      sql`create table if not exists ${applied} (id integer primary key, name text not null)`,
    )
    const done = new Map((await transaction.select().from(applied)).map(({ id, name }) => [id, name]))
    const newest = Math.max(0, ...done.keys())
    const known = Math.max(0, ...migrations.map(({ id }) => id))
    if (newest > known) {
      throw new UserMistake(
        `The database was migrated by a newer version of this program: it is at migration ${newest} ` +
          `("${done.get(newest)}"), this version knows ${known}. Start the newer version, or restore an older backup.`,
      )
    }
    for (const { id, name, statements } of migrations.filter((migration) => !done.has(migration.id))) {
      for (const statement of statements) await transaction.execute(sql.raw(statement))
      await transaction.insert(applied).values({ id, name })
    }
  })
}
