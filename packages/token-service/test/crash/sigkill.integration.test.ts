import { describe, expect, it } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '../postgres/postgres-cluster.ts'
import { temporaryFolder } from '../service-process.ts'
import { crashFiles, crashUnderLoad } from './crash-under-load.ts'

const kills = 3

describe('a service killed with SIGKILL under load keeps every token it handed out, and no revoked one', () => {
  it('on PGlite', { timeout: 120_000 }, async () => {
    const cwd = temporaryFolder(crashFiles)
    const { issued, revoked } = await crashUnderLoad({ cwd, args: ['--storage', 'pglite:data'], kills })
    expect(Math.min(issued, revoked)).toBeGreaterThan(50)
  })

  it.skipIf(postgresIsAbsent)(`on PostgreSQL (${withoutPostgres})`, { timeout: 120_000 }, async () => {
    const postgres = await startPostgres()
    try {
      const cwd = temporaryFolder(crashFiles)
      const env = { TOKENWELL_STORAGE: await postgres.createDatabase(), TOKENWELL_KEYS: 'k'.repeat(40) }
      const { issued, revoked } = await crashUnderLoad({ cwd, args: [], env, kills })
      expect(Math.min(issued, revoked)).toBeGreaterThan(50)
    } finally {
      await postgres.stop()
    }
  })
})
