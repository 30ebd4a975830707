import { describe, expect, it, onTestFinished } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  startPrivatePostgres,
  withoutPostgres,
} from '@tokenwell/internal-testing/postgres'
import { temporaryFolder } from '../service-process.ts'
import { actsUnderCrash } from './acts-under-crash.ts'
import { crashFiles, crashUnderLoad } from './crash-under-load.ts'

it('a service on SQLite that is killed under load keeps every token that it issued, and none that was revoked', async () => {
  const cwd = temporaryFolder(crashFiles)
  const { issued, revoked } = await crashUnderLoad({ cwd, args: ['--storage', 'sqlite:data.db'], kills: 1 })
  expect(Math.min(issued, revoked)).toBeGreaterThan(25)
})

describe.skipIf(postgresIsAbsent)(`a service on PostgreSQL killed under load (${withoutPostgres})`, () => {
  it('keeps every issued token, and no revoked one', async () => {
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

  it('has an entry for each act when the database crashes', async () => {
    const postgres = await startPrivatePostgres()
    onTestFinished(() => postgres.stop())
    const env = {
      TOKENWELL_STORAGE: await postgres.createDatabase(),
      TOKENWELL_SECRET_HASH_KEYS: 'k'.repeat(40),
    }
    const plan = { cwd: temporaryFolder(), args: [], env, rounds: 2, crashDatabase: () => postgres.crash() }
    expect(await actsUnderCrash(plan)).toBeGreaterThanOrEqual(24)
  })
})

it('a service on SQLite that is killed while administrators act has an entry for each act', async () => {
  const plan = { cwd: temporaryFolder(), args: ['--storage', 'sqlite:data.db'], rounds: 2 }
  expect(await actsUnderCrash(plan)).toBeGreaterThanOrEqual(24)
})
