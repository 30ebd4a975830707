import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { sharedServer, type SharedServer } from '../shared-server.ts'
import { isInstalled, startPostgresServer } from './private-postgres.ts'

const givenUrl = process.env['TOKENWELL_TEST_POSTGRES_URL']

export const postgresIsAbsent = givenUrl === undefined && !isInstalled

export const withoutPostgres =
  'needs PostgreSQL: install the Debian package "postgresql", or set TOKENWELL_TEST_POSTGRES_URL'

export interface PostgresCluster {
  /** The URL of a separate database. */
  createDatabase(): Promise<string>
  stop(): Promise<void>
}

/** The server at the given URL, or one that all test files share. */
export async function startPostgres(): Promise<PostgresCluster> {
  const url = givenUrl ?? (await sharedServer('postgres'))
  return url === undefined ? startPrivatePostgres() : clusterOf({ url, stop: async () => {} })
}

/** A separate server, which a test can stop; `crash` stops it at once, as a crash would, and starts it again. */
export async function startPrivatePostgres(): Promise<
  PostgresCluster & { readonly crash: () => Promise<void> }
> {
  const server = await startPostgresServer()
  return { ...clusterOf(server), crash: server.crash }
}

function clusterOf({ url: adminUrl, stop }: SharedServer): PostgresCluster {
  return {
    stop,
    async createDatabase() {
      const name = `tokenwell_${randomUUID().replaceAll('-', '')}`
      const client = new Client({ connectionString: adminUrl })
      await client.connect()
      await client.query(`create database ${name}`)
      await client.end()
      const url = new URL(adminUrl)
      url.pathname = `/${name}`
      return url.href
    },
  }
}
