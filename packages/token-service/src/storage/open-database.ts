import { UsageError } from '../runtime/usage-error.ts'
import type { OpenDatabase } from './database.ts'
import type { OpenOptions } from './migrate.ts'

/** Where a service stores its data: `memory` (SQLite in memory), `sqlite:FILE` or a `postgres://` URL. */
export type StorageLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

export function parseStorageLocation(text: string): StorageLocation {
  if (text === 'memory') return { kind: 'memory' }
  const [, file] = /^sqlite:(.+)$/.exec(text) ?? []
  if (file !== undefined) return { kind: 'sqlite', file }
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return { kind: 'postgres', url: text }
  throw new UsageError('The storage must be "memory", "sqlite:FILE" or a postgres:// URL.')
}

/** Opens the database and migrates it. The code of a kind is loaded only when it is used. */
export async function openDatabase(location: StorageLocation, options: OpenOptions): Promise<OpenDatabase> {
  if (location.kind === 'postgres') {
    const { openPostgres } = await withPg(() => import('./open-postgres.ts'))
    return openPostgres(location.url, options)
  }
  const { openMemory, openSqlite } = await import('./open-sqlite.ts')
  const open =
    location.kind === 'memory' ? await openMemory(options) : await openSqlite(location.file, options)
  try {
    await options.prepare(open.database)
    return open
  } catch (error) {
    await open.close()
    throw error
  }
}

/** Writes a copy of the database to a new file, even while a service uses it. */
export async function backupStorage(location: StorageLocation, to: string): Promise<void> {
  const { backupSqlite } = await import('./backup-sqlite.ts')
  await backupSqlite(sqliteFile(location), to)
}

/** Restores a backup of an SQLite database to a place where nothing is stored yet. */
export async function restoreStorage(location: StorageLocation, backup: string): Promise<void> {
  if (location.kind === 'postgres') {
    const { restorePostgres } = await withPg(() => import('./restore-postgres.ts'))
    return restorePostgres(backup, location.url)
  }
  const { restoreSqlite } = await import('./backup-sqlite.ts')
  await restoreSqlite(backup, sqliteFile(location))
}

function sqliteFile(location: StorageLocation): string {
  if (location.kind === 'sqlite') return location.file
  throw new UsageError(
    'Backup files are written from SQLite storage. Use pg_dump and pg_restore with PostgreSQL; memory storage has no backup.',
  )
}

async function withPg<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    // Named differently by `import` and `require`.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!code.endsWith('MODULE_NOT_FOUND')) throw error
    throw new UsageError('PostgreSQL storage requires the package pg. Run npm install pg.', { cause: error })
  }
}
