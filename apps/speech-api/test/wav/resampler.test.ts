import { expect, test } from 'vitest'
import { join } from '../../src/wav/join.ts'
import { createResampler } from '../../src/wav/resampler.ts'
import { largestDifference, level, tone } from '../tone.ts'

function resample(
  samples: Float32Array,
  rates: readonly number[],
  pieceLength = samples.length,
): Float32Array {
  const resampler = createResampler(rates)
  const pieces: Float32Array[] = []
  for (let start = 0; start < samples.length; start += pieceLength) {
    pieces.push(resampler.push(samples.subarray(start, start + pieceLength)))
  }
  return join([...pieces, resampler.end()])
}

test.each([8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 44_101, 48_000, 96_000, 384_000])(
  'a tone recorded at %d Hz is the same tone at 16 kHz',
  (rate) => {
    const heard = resample(tone(1_000, rate, 0.5), [rate, 16_000])
    expect(heard.length).toBeCloseTo(8_000, -1)
    const ends = 200
    const middle = heard.subarray(ends, 8_000 - ends)
    expect(largestDifference(tone(1_000, 16_000, 0.5).subarray(ends, 8_000 - ends), middle)).toBeLessThan(
      2e-3,
    )
  },
)

test.each([9_500, 12_000, 20_000])(
  'a tone of %d Hz does not fold back into what 16 kHz can hold',
  (hertz) => {
    const decibels = 20 * Math.log10(level(resample(tone(hertz, 48_000, 0.5), [48_000, 16_000])) / 0.35)
    expect(decibels).toBeLessThan(-60)
  },
)

test('a detour over 8 kHz leaves what is under 4 kHz and nothing above', () => {
  const through = (hertz: number) =>
    level(resample(tone(hertz, 16_000, 0.5), [16_000, 8_000, 16_000])) / 0.354
  expect(through(3_000)).toBeCloseTo(1, 2)
  expect(through(5_000)).toBeLessThan(0.001)
})

test.each([1, 7, 160, 4_096])('pieces of %d samples give what the whole gives', (pieceLength) => {
  const samples = tone(700, 44_100, 0.1)
  expect(resample(samples, [44_100, 16_000], pieceLength)).toEqual(resample(samples, [44_100, 16_000]))
})

test('nothing in, nothing out', () => {
  expect(resample(new Float32Array(), [44_100, 16_000])).toHaveLength(0)
})
