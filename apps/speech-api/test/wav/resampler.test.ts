import { expect, test } from 'vitest'
import { joinSamples, createResampler } from '../../src/wav/resampler.ts'
import { largestDifference, level, tone } from '../support/tone.ts'

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
  return joinSamples([...pieces, resampler.end()])
}

test.each([8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 44_101, 48_000, 96_000, 384_000])(
  'converts a tone from %d Hz to 16 kHz',
  (rate) => {
    const converted = resample(tone(1_000, rate, 0.5), [rate, 16_000])
    expect(converted.length).toBeCloseTo(8_000, -1)
    const ends = 200
    const middle = converted.subarray(ends, 8_000 - ends)
    expect(largestDifference(tone(1_000, 16_000, 0.5).subarray(ends, 8_000 - ends), middle)).toBeLessThan(
      2e-3,
    )
  },
)

test.each([9_500, 12_000, 20_000])('removes a tone of %d Hz without aliasing', (hertz) => {
  const decibels = 20 * Math.log10(level(resample(tone(hertz, 48_000, 0.5), [48_000, 16_000])) / 0.35)
  expect(decibels).toBeLessThan(-60)
})

test('keeps only frequencies below 4 kHz on the way through 8 kHz', () => {
  const through = (hertz: number) =>
    level(resample(tone(hertz, 16_000, 0.5), [16_000, 8_000, 16_000])) / 0.354
  expect(through(3_000)).toBeCloseTo(1, 2)
  expect(through(5_000)).toBeLessThan(0.001)
})

test.each([1, 7, 160, 4_096])('converts pieces of %d samples like the whole', (pieceLength) => {
  const samples = tone(700, 44_100, 0.1)
  expect(resample(samples, [44_100, 16_000], pieceLength)).toEqual(resample(samples, [44_100, 16_000]))
})

test('returns nothing for no samples', () => {
  expect(resample(new Float32Array(), [44_100, 16_000])).toHaveLength(0)
})
