import { describe, expect, test } from 'vitest'
import { createRandom } from '@tokenwell/internal-testing/random'
import { wavFile, type WavFileOptions } from '../../../scripts/espeak.ts'
import { joinSamples } from '../../../src/wav/resampler.ts'
import {
  transcribeSamples,
  transcribeFile,
  recordings,
  resampled,
  samplesOf,
  noise,
} from '../../support/transcribe-file.ts'

const pause = (seconds: number) => new Float32Array(seconds * 16_000)

function withNoise(samples: Float32Array, decibelsBelow: number): Float32Array {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length
  const hiss = noise(Math.sqrt(power) * 10 ** (-decibelsBelow / 20), samples.length, createRandom(7))
  return samples.map((sample, index) => sample + (hiss[index] as number))
}

const isSoak = process.env['TOKENWELL_SOAK'] === '1'

describe.each(recordings.map((recording, number) => ({ ...recording, number })))(
  '$name',
  ({ number, text, file }) => {
    const samples = samplesOf(file)
    // Each variation of one recording; `pnpm soak` tries every variation of all.
    const some = <Case>(cases: readonly Case[]) =>
      cases.filter((_, index) => isSoak || index % recordings.length === number)

    test('is recognised correctly, with the times of each digit', () => {
      const { durationSeconds, segments } = transcribeFile(file)
      expect(segments.map((segment) => segment.text).join(' ')).toBe(text)
      expect(durationSeconds).toBeCloseTo(samples.length / 16_000, 2)
      for (const [index, { start, end, confidence }] of segments.entries()) {
        expect(start).toBeGreaterThanOrEqual(segments[index - 1]?.end ?? 0)
        expect(end).toBeGreaterThan(start + 0.1)
        expect(end).toBeLessThanOrEqual(durationSeconds)
        expect(confidence).toBeGreaterThan(0.9)
        expect(confidence).toBeLessThanOrEqual(1)
      }
    })

    test.each(
      some<[string, WavFileOptions & { sampleRate: number }]>([
        ['8 kHz', { sampleRate: 8_000 }],
        ['8 kHz and 8 bits', { sampleRate: 8_000, bits: 8 }],
        ['11.025 kHz', { sampleRate: 11_025 }],
        ['44.1 kHz stereo', { sampleRate: 44_100, channels: 2 }],
        ['48 kHz float', { sampleRate: 48_000, encoding: 'float', bits: 32 }],
        ['96 kHz and 24 bits', { sampleRate: 96_000, bits: 24 }],
      ]),
    )('is recognised correctly at %s', (_, options) => {
      expect(transcribeSamples(resampled(samples, options.sampleRate), options)).toBe(text)
    })

    test.each(
      some<[string, (samples: Float32Array) => Float32Array]>([
        ['20 dB quieter', (sound) => sound.map((sample) => sample / 10)],
        ['40 dB quieter', (sound) => sound.map((sample) => sample / 100)],
        ['with silence around it', (sound) => joinSamples([pause(2), sound, pause(3)])],
        ['with noise 30 dB below it', (sound) => withNoise(joinSamples([pause(0.5), sound, pause(0.5)]), 30)],
        ['with noise 20 dB below it', (sound) => withNoise(joinSamples([pause(0.5), sound, pause(0.5)]), 20)],
        ['with an offset', (sound) => sound.map((sample) => sample + 0.05)],
      ]),
    )('is recognised correctly %s', (_, change) => {
      expect(transcribeSamples(change(samples))).toBe(text)
    })

    test('is transcribed the same in pieces of any length', () => {
      expect(transcribeFile(file, 997)).toEqual(transcribeFile(file))
    })

    test('is half recognised when the second half is missing', () => {
      const half = transcribeSamples(samples.subarray(0, samples.length / 2)).split(' ')
      expect(half.length).toBeGreaterThanOrEqual(2)
      expect(half.length).toBeLessThan(text.split(' ').length)
      expect(text.split(' ').slice(0, half.length - 1)).toEqual(half.slice(0, -1))
    })
  },
)

test(
  'recognises a recording of more than 30 s to its end, with correct times',
  { timeout: 5 * 60_000 },
  () => {
    const spoken = recordings.map(({ file }) => joinSamples([samplesOf(file), pause(0.6)]))
    const rounds = 4
    const samples = joinSamples(Array.from({ length: rounds }, () => spoken).flat())
    const { durationSeconds, segments } = transcribeFile(wavFile(samples), 65_536)
    const text = Array.from({ length: rounds }, () => recordings.map((recording) => recording.text)).flat()
    expect(segments.map((segment) => segment.text).join(' ')).toBe(text.join(' '))
    expect(durationSeconds).toBeGreaterThan(30)

    const round = samples.length / rounds / 16_000
    const perRound = segments.length / rounds
    for (const [index, { start }] of segments.entries()) {
      const first = segments[index % perRound]?.start ?? 0
      expect(start).toBeCloseTo(first + round * Math.floor(index / perRound), 0.9)
    }
  },
)
