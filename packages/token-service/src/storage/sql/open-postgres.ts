import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'
import { UserMistake } from '../../user-mistake.ts'
import type { Storage } from '../storage.ts'
import { rootReason } from '../storage-failure.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations/migrations.ts'
import { createSqlStorage } from './sql-storage.ts'

/** Opens a PostgreSQL database by its URL and brings it up to date. */
export async function openPostgres(url: string, onError: (error: Error) => void): Promise<Storage> {
  const pool = new Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    application_name: 'tokenwell',
    // A token is handed out only once it is durable, whatever the server's default.
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, though its types do not say so
    onConnect: (client) => client.query('set synchronous_commit = on'),
  })
  // A connection that breaks while nobody uses it is replaced; unheard, the event would end the process.
  pool.on('error', onError)
  const database = drizzle(pool)
  try {
    await pool.query('select 1')
  } catch (error) {
    await pool.end()
    throw new UserMistake(`The database at ${withoutPassword(url)} cannot be used: ${rootReason(error)}.`)
  }
  try {
    await migrate(database, migrations)
  } catch (error) {
    await pool.end()
    throw error
  }
  return createSqlStorage(database, () => pool.end())
}

function withoutPassword(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}
