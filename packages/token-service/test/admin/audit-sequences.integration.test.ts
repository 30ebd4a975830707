import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import type { Database } from '../../src/storage/database.ts'
import { runSequences } from './audit-sequences.ts'
import { createPostgresTestDatabase, createSqliteTestDatabase } from '../storage/open-test-storage.ts'

// The same ones each time; `pnpm soak` runs many more, with a random seed.
const isSoak = process.env['TOKENWELL_SOAK'] === '1'
const sequences = Number(process.env['RUNS'] ?? (isSoak ? 2_000 : 20))
const seed = Number(process.env['SEED'] ?? (isSoak ? Date.now() % 1e9 : 20_261_126))

async function run(database: Database): Promise<void> {
  onTestFinished(() => database.query.destroy())
  process.stdout.write(`audit sequences: SEED=${seed} RUNS=${sequences}\n`)
  const report = await runSequences(database, { seed, sequences })
  process.stdout.write(`${database.kind}: ${JSON.stringify(report)}\n`)
  expect(report.found).toBeGreaterThan(sequences)
  expect(report.passed).toBeGreaterThan(sequences)
}

describe('whatever somebody without a key does to the audit log is noticed, but an older state of it', () => {
  let postgres: PostgresCluster | undefined
  beforeAll(async () => {
    postgres = postgresIsAbsent ? undefined : await startPostgres()
  })
  afterAll(() => postgres?.stop())

  it('in SQLite', async () => {
    await run(createSqliteTestDatabase())
  })

  it.skipIf(postgresIsAbsent)(`in PostgreSQL (${withoutPostgres})`, async () => {
    await run(createPostgresTestDatabase(await postgres!.createDatabase()))
  })
})
