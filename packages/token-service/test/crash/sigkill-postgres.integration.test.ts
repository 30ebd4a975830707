import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { temporaryFolder } from '../service-process.ts'
import { crashFiles, crashUnderLoad } from './crash-under-load.ts'

describe.skipIf(postgresIsAbsent)(`a service on PostgreSQL killed under load (${withoutPostgres})`, () => {
  it('keeps every issued token, and no revoked one', { timeout: 120_000 }, async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const env = {
      TOKENWELL_STORAGE: await postgres.createDatabase(),
      TOKENWELL_SECRET_HASH_KEYS: 'k'.repeat(40),
    }
    const cwd = temporaryFolder(crashFiles)
    const { issued, revoked } = await crashUnderLoad({ cwd, args: [], env, kills: 1 })
    expect(Math.min(issued, revoked)).toBeGreaterThan(25)
  })
})
