import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { describeStorage } from './storage-contract.ts'
import { openTestMemory, openTestPostgres, openTestSqlite } from './open-test-storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'tokenwell-storage-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeStorage('memory storage', openTestMemory)

describeStorage('SQLite storage', () => openTestSqlite(join(folder, 'data.db')))

describe.skipIf(postgresIsAbsent)(withoutPostgres, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  describeStorage('PostgreSQL storage', async () => openTestPostgres(await postgres.createDatabase()))
})
