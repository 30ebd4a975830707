import { expect, it, onTestFinished } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  startPrivatePostgres,
  withoutPostgres,
} from '@tokenwell/internal-testing/postgres'
import { actsUnderCrash, type ActsPlan } from '../crash/acts-under-crash.ts'
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

async function crashDuringActs(storage: string, plan: Omit<ActsPlan, 'rounds' | 'cwd'>): Promise<void> {
  const rounds = 50
  await table.measure(`${rounds} crashes during acts on ${storage}`, async () => {
    const calls = await actsUnderCrash({ ...plan, cwd: temporaryFolder(), rounds })
    return { calls, failures: 0, figures: `${calls} acts, each with its entry` }
  })
}

it('has an entry for each act through 50 kills on SQLite', async () => {
  await crashDuringActs('SQLite', { args: ['--storage', 'sqlite:data.db'] })
})

it.skipIf(postgresIsAbsent)(
  `has an entry for each act through 50 crashes of PostgreSQL (${withoutPostgres})`,
  async () => {
    const postgres = await startPrivatePostgres()
    onTestFinished(() => postgres.stop())
    const env = {
      TOKENWELL_STORAGE: await postgres.createDatabase(),
      TOKENWELL_SECRET_HASH_KEYS: 'k'.repeat(40),
    }
    await crashDuringActs('PostgreSQL', { args: [], env, crashDatabase: postgres.crash })
  },
)
