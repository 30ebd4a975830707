import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../service-process.ts'
import { raceForLock } from '../storage/lock-race.ts'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

it('opens a database once in 100 races of three processes for the lock of one that was killed', async () => {
  await table.measure('races of three processes', async () => {
    const pids = await raceForLock(join(temporaryFolder(), 'data.db'), 100)
    return { calls: 100, failures: 0, figures: `${pids.size} processes` }
  })
})

it.skipIf(process.getuid?.() !== 0)(
  'opens a database once in 100 races of processes that are each PID 1 of a namespace (as root)',
  async () => {
    await table.measure('races of processes with PID 1', async () => {
      const pids = await raceForLock(join(temporaryFolder(), 'data.db'), 100, { pidNamespaces: true })
      expect([...pids]).toEqual([1])
      return { calls: 100, failures: 0 }
    })
  },
)
