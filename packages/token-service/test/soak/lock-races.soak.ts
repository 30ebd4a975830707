import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../service-process.ts'
import { raceForLock } from '../storage/lock-race.ts'

it('opens a database once in 100 races of three processes for the lock of one that was killed', async () => {
  const pids = await raceForLock(join(temporaryFolder(), 'data.db'), 100)
  process.stdout.write(`100 races of ${pids.size} processes, each with one winner\n`)
})

it.skipIf(process.getuid?.() !== 0)(
  'opens a database once in 100 races of processes that are each PID 1 of a namespace (as root)',
  async () => {
    const pids = await raceForLock(join(temporaryFolder(), 'data.db'), 100, { pidNamespaces: true })
    process.stdout.write('100 races of processes with PID 1, each with one winner\n')
    expect([...pids]).toEqual([1])
  },
)
