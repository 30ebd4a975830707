import { expect, it } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { playSequence } from '../random-sequences/play-sequence.ts'
import { useFakeTime } from '../support/fake-time.ts'

// `SEED` repeats a run, `RUNS` changes its length.
const runs = Number(process.env['RUNS'] ?? 1_000_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

const table = createSoakTable()
useFakeTime()

it(
  `${runs} random sequences lose, repeat and leak nothing (seed ${seed})`,
  { timeout: 90 * 60_000 },
  async () => {
    await table.measure(`random sequences, seed ${seed}`, async () => {
      const problems: string[] = []
      for (let count = 0; count < runs && problems.length < 20; count++) {
        problems.push(...(await playSequence(seed + count)))
      }
      expect(problems).toEqual([])
      return { calls: runs, failures: 0 }
    })
  },
)
