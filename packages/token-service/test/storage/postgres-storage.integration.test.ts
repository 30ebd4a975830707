import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from 'pg'
import { openPostgres } from '../../src/storage/sql/open-postgres.ts'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '../postgres/postgres-cluster.ts'
import { describeStorage } from './storage-contract.ts'

// Of idle connections, when the server stops before the last of them is closed.
const ignore = () => {}

describe.skipIf(postgresIsAbsent)(`PostgreSQL (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  describeStorage('storage', async () => openPostgres(await postgres.createDatabase(), ignore))

  it('is migrated once by many instances that start at once', async () => {
    const url = await postgres.createDatabase()
    const opened = await Promise.all(Array.from({ length: 5 }, () => openPostgres(url, ignore)))
    await Promise.all(opened.map((storage) => storage.ready()))
    await Promise.all(opened.map((storage) => storage.close()))
  })

  it('is left alone when a newer version of the program has migrated it', async () => {
    const url = await postgres.createDatabase()
    await (await openPostgres(url, ignore)).close()
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query("insert into tokenwell_migrations values (999, 'of the future')")
    await client.end()
    await expect(openPostgres(url, ignore)).rejects.toThrow(
      /migrated by a newer version.*999 \("of the future"\)/,
    )
  })

  it('says which database cannot be reached, without its password', async () => {
    const opening = openPostgres('postgres://someone:canary@127.0.0.1:1/nowhere', ignore)
    await expect(opening).rejects.toThrow(/postgres:\/\/127\.0\.0\.1:1\/nowhere.*ECONNREFUSED/)
    await expect(opening).rejects.not.toThrow(/canary/)
  })
})
