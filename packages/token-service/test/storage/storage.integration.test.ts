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
import { openMemory, openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { openTestPostgres, describeStorage } from './storage-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'tokenwell-storage-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeStorage('memory storage', openMemory)

describeStorage('SQLite storage', () => openSqlite(join(folder, 'data.db')))

describe.skipIf(postgresIsAbsent)(withoutPostgres, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  describeStorage('PostgreSQL storage', async () => openTestPostgres(await postgres.createDatabase()))
})
