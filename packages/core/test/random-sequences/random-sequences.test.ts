import { expect, it } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { playSequence } from './play-sequence.ts'

useFakeTime()

// `SEED` repeats a run.
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

it(`random sequences lose, repeat and leak nothing (seed ${seed})`, async () => {
  for (let count = 0; count < 300; count++) expect(await playSequence(seed + count)).toEqual([])
})
