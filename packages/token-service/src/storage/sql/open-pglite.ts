import { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { lockFolder } from './folder-lock.ts'
import type { Storage } from '../storage.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations/migrations.ts'
import { createSqlStorage } from './sql-storage.ts'

/** Opens the embedded database in `folder`, made if need be, for this process alone. */
export async function openPglite(folder: string): Promise<Storage> {
  const unlock = await lockFolder(folder)
  try {
    const pglite = await PGlite.create(folder)
    const database = drizzle(pglite)
    await migrate(database, migrations)
    return createSqlStorage(database, async () => {
      await pglite.close()
      await unlock()
    })
  } catch (error) {
    await unlock()
    throw error
  }
}
