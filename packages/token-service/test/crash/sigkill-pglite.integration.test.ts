import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeEmptyPglite } from '../storage/empty-pglite.ts'
import { temporaryFolder } from '../service-process.ts'
import { crashFiles, crashUnderLoad } from './crash-under-load.ts'

it(
  'a service on PGlite killed under load keeps every token it handed out, and no revoked one',
  { timeout: 120_000 },
  async () => {
    const cwd = temporaryFolder(crashFiles)
    await makeEmptyPglite(join(cwd, 'data'))
    const { issued, revoked } = await crashUnderLoad({ cwd, args: ['--storage', 'pglite:data'], kills: 2 })
    expect(Math.min(issued, revoked)).toBeGreaterThan(50)
  },
)
