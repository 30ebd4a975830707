import { expect, it } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { temporaryFolder } from '../service-process.ts'
import { crashFiles, crashUnderLoad, type CrashPlan } from '../crash/crash-under-load.ts'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

const kills = 20

async function crash(storage: string, plan: CrashPlan): Promise<void> {
  const { issued, revoked } = await table.measure(`${kills} kills on ${storage}`, async () => {
    const counts = await crashUnderLoad(plan)
    const figures = `${counts.issued} tokens active, ${counts.revoked} revoked`
    return { ...counts, calls: counts.issued + counts.revoked, failures: 0, figures }
  })
  expect(Math.min(issued, revoked)).toBeGreaterThan(500)
}

it('keeps every token through 20 kills on SQLite', async () => {
  const cwd = temporaryFolder(crashFiles)
  await crash('SQLite', { cwd, args: ['--storage', 'sqlite:data.db'], kills })
})

it.skipIf(postgresIsAbsent)(
  `keeps every token through 20 kills on PostgreSQL (${withoutPostgres})`,
  async () => {
    const postgres = await startPostgres()
    try {
      const cwd = temporaryFolder(crashFiles)
      const env = {
        TOKENWELL_STORAGE: await postgres.createDatabase(),
        TOKENWELL_SECRET_HASH_KEYS: 'k'.repeat(40),
      }
      await crash('PostgreSQL', { cwd, args: [], env, kills })
    } finally {
      await postgres.stop()
    }
  },
)
