import { expect, it } from 'vitest'
import { temporaryFolder } from '../service-process.ts'
import { crashFiles, crashUnderLoad } from './crash-under-load.ts'

it(
  'a service on SQLite that is killed under load keeps every token that it issued, and none that was revoked',
  { timeout: 120_000 },
  async () => {
    const cwd = temporaryFolder(crashFiles)
    const { issued, revoked } = await crashUnderLoad({ cwd, args: ['--storage', 'sqlite:data.db'], kills: 1 })
    expect(Math.min(issued, revoked)).toBeGreaterThan(25)
  },
)
