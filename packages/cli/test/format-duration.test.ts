import { expect, it } from 'vitest'
import { formatDuration } from '../src/doctor/format-duration.ts'

it.each([
  [0.4, '0 ms'],
  [999, '999 ms'],
  [1000, '1 s'],
  [2345, '2.3 s'],
  [9999, '10 s'],
  [59_999, '1 min'],
  [3_590_000, '59 min 50 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 day 1 h'],
  [172_800_000, '2 days'],
])('formats %d ms as %s', (ms, words) => {
  expect(formatDuration(ms)).toBe(words)
})
