import { createRequire } from 'node:module'
import { DatabaseSync } from 'node:sqlite'

export type Row = Readonly<Record<string, string | number | null>>

/** Where rows are written to, around the service: 200,000 acts would take an hour. */
export interface SeededDatabase {
  /** Columns that the table does not have are left out. */
  insert(table: string, rows: readonly Row[]): Promise<void>
  close(): Promise<void>
}

/** `postgres://…`, or the path of an SQLite file, both with the tables of the service. */
export function openSeeded(location: string): Promise<SeededDatabase> {
  return location.startsWith('postgres') ? openPostgres(location) : openFile(location)
}

async function openFile(file: string): Promise<SeededDatabase> {
  const database = new DatabaseSync(file)
  database.exec('pragma synchronous = off')
  return {
    async insert(table, rows) {
      if (rows.length === 0) return
      const known = new Set(
        database
          .prepare('select name from pragma_table_info(?)')
          .all(table)
          .map(({ name }) => String(name)),
      )
      const columns = columnsOf(rows, known)
      const places = columns.map(() => '?').join(', ')
      const statement = database.prepare(`insert into ${table} (${columns.join(', ')}) values (${places})`)
      database.exec('begin')
      for (const row of rows) statement.run(...columns.map((column) => row[column] ?? null))
      database.exec('commit')
    },
    async close() {
      database.exec('analyze')
      database.close()
    },
  }
}

interface PostgresClient {
  connect(): Promise<void>
  query(text: string, values?: readonly unknown[]): Promise<{ rows: readonly Record<string, unknown>[] }>
  end(): Promise<void>
}

async function openPostgres(url: string): Promise<SeededDatabase> {
  // A dependency of the service, not of this folder.
  const require = createRequire(new URL('../../../packages/token-service/package.json', import.meta.url))
  const { Client } = require('pg') as { Client: new (url: string) => PostgresClient }
  const client = new Client(url)
  await client.connect()
  return {
    async insert(table, rows) {
      if (rows.length === 0) return
      const found = await client.query(
        'select column_name from information_schema.columns where table_name = $1 and table_schema = current_schema()',
        [table],
      )
      const known = new Set(found.rows.map((row) => String(row['column_name'])))
      const columns = columnsOf(rows, known).join(', ')
      for (let at = 0; at < rows.length; at += 5000) {
        const part = JSON.stringify(rows.slice(at, at + 5000))
        await client.query(
          `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`,
          [part],
        )
      }
    },
    async close() {
      await client.query('analyze')
      await client.end()
    },
  }
}

function columnsOf([first = {}]: readonly Row[], known: ReadonlySet<string>): string[] {
  return Object.keys(first).filter((column) => known.has(column))
}
