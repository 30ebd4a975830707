import { expect, it } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { temporaryFolder } from '../service-process.ts'
import { crashFiles, crashUnderLoad } from '../crash/crash-under-load.ts'

const kills = 20

it('keeps every token through 20 kills on SQLite', async () => {
  const cwd = temporaryFolder(crashFiles)
  const { issued, revoked } = await crashUnderLoad({ cwd, args: ['--storage', 'sqlite:data.db'], kills })
  process.stdout.write(`SQLite: ${kills} kills, ${issued} tokens active, ${revoked} revoked\n`)
  expect(Math.min(issued, revoked)).toBeGreaterThan(500)
})

it.skipIf(postgresIsAbsent)(
  `keeps every token through 20 kills on PostgreSQL (${withoutPostgres})`,
  async () => {
    const postgres = await startPostgres()
    try {
      const cwd = temporaryFolder(crashFiles)
      const env = { TOKENWELL_STORAGE: await postgres.createDatabase(), TOKENWELL_KEYS: 'k'.repeat(40) }
      const { issued, revoked } = await crashUnderLoad({ cwd, args: [], env, kills })
      process.stdout.write(`PostgreSQL: ${kills} kills, ${issued} tokens active, ${revoked} revoked\n`)
      expect(Math.min(issued, revoked)).toBeGreaterThan(500)
    } finally {
      await postgres.stop()
    }
  },
)
