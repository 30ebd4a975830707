import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from 'pg'
import { openPostgres } from '../../src/storage/postgres/open-postgres.ts'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { openTestPostgres } from './open-test-postgres.ts'

describe.skipIf(postgresIsAbsent)(`a PostgreSQL database (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  it('is migrated once by many instances that start at the same time', async () => {
    const url = await postgres.createDatabase()
    const opened = await Promise.all(Array.from({ length: 5 }, () => openTestPostgres(url)))
    await Promise.all(opened.map((storage) => storage.probe()))
    await Promise.all(opened.map((storage) => storage.close()))
  })

  it('is not opened by an older version of the program', async () => {
    const url = await postgres.createDatabase()
    await (await openTestPostgres(url)).close()
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query("insert into tokenwell_migrations values ('9999-future', '2999-01-01T00:00:00.000Z')")
    await client.end()
    await expect(openTestPostgres(url)).rejects.toThrow(
      /newer version of this program: migration "9999-future"/,
    )
  })

  it('that does not exist is named at once, without the password', async () => {
    const url = new URL(await postgres.createDatabase())
    url.pathname = '/nowhere'
    url.password = 'canary'
    const opening = openTestPostgres(url.href)
    await expect(opening).rejects.toThrow(/\/nowhere cannot be used: .*does not exist/)
    await expect(opening).rejects.not.toThrow(/canary/)
  })
})

describe('a PostgreSQL server that cannot be reached', () => {
  it('is tried again until the storage is closed; until then every call fails with the reason', async () => {
    const reported: string[] = []
    const storage = await openPostgres('postgres://someone:canary@127.0.0.1:1/nowhere', {
      onError: (error) => reported.push(String(error)),
      prepare: () => expect.unreachable(),
    })
    await expect(storage.probe()).rejects.toThrow(/127\.0\.0\.1:1\/nowhere cannot be used: .*ECONNREFUSED/)
    await expect(storage.tokens.find('hash')).rejects.toThrow('The storage failed: ')
    await expect.poll(() => reported.length).toBeGreaterThan(1)
    await storage.close()
    expect(reported.join()).not.toContain('canary')
  })
})
