import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { UserMistake } from '../../user-mistake.ts'
import { rootReason } from '../storage-failure.ts'
import type { Storage } from '../storage.ts'
import { lockFolder } from './folder-lock.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations/migrations.ts'
import { createSqlStorage } from './sql-storage.ts'

/** Opens the embedded database in `folder`, made if need be, for this process alone. */
export async function openPglite(folder: string): Promise<Storage> {
  const unlock = await lockFolder(folder)
  try {
    if (!existsSync(folder)) await makeDatabase(folder)
    const pglite = await PGlite.create(folder).catch((error: unknown) => {
      throw new UserMistake(`The folder ${folder} holds no usable database: ${rootReason(error)}.`)
    })
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

/** Made under another name first, so that a start that is broken off leaves no half of a database behind. */
async function makeDatabase(folder: string): Promise<void> {
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  const pglite = await PGlite.create(unfinished)
  await pglite.close()
  await rename(unfinished, folder)
}
