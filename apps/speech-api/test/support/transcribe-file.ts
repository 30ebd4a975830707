import { readFileSync } from 'node:fs'
import { wavFile, type WavFileOptions } from '../../scripts/espeak.ts'
import { createDigitTranscription } from '../../src/engines/digits/digit-transcription.ts'
import type { Bandwidth } from '../../src/engines/digits/features/feature-frames.ts'
import {
  type DigitTemplates,
  loadDigitTemplates,
} from '../../src/engines/digits/recognition/digit-templates.ts'
import type { Transcript } from '../../src/engines/speech-engine.ts'
import { createResampler, joinSamples } from '../../src/wav/resampler.ts'
import { createWavReader } from '../../src/wav/wav-reader.ts'

/** White noise with a given root mean square. */
export function noise(level: number, length: number, random: () => number): Float32Array {
  return Float32Array.from({ length }, () => level * Math.sqrt(12) * (random() - 0.5))
}

/** A sine with an amplitude of 0.5. */
export function tone(hertz: number, sampleRate: number, seconds: number): Float32Array {
  return Float32Array.from(
    { length: Math.round(sampleRate * seconds) },
    (_, index) => 0.5 * Math.sin((2 * Math.PI * hertz * index) / sampleRate),
  )
}

/** The root mean square without both ends, where a filter starts and stops. */
export function level(samples: Float32Array): number {
  const middle = samples.subarray(samples.length / 10, samples.length * 0.9)
  return Math.sqrt(middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length)
}

/** The largest difference between two recordings of the same length. */
export function largestDifference(one: Float32Array, other: Float32Array): number {
  return one.reduce((most, sample, index) => Math.max(most, Math.abs(sample - (other[index] ?? Infinity))), 0)
}

const loaded = new Map<Bandwidth, DigitTemplates>()

/** Transcribes a WAV file in this thread. */
export function transcribeFile(file: Uint8Array, pieceLength = file.length): Transcript {
  const transcription = createDigitTranscription((bandwidth) => {
    const templates = loaded.get(bandwidth) ?? loadDigitTemplates(bandwidth)
    loaded.set(bandwidth, templates)
    return templates
  })
  for (let start = 0; start < file.length; start += pieceLength) {
    transcription.push(file.subarray(start, start + pieceLength))
  }
  return transcription.end()
}

/** The digits recognised in samples, encoded as a WAV file. */
export function transcribeSamples(samples: Float32Array, options?: WavFileOptions): string {
  return transcribeFile(wavFile(samples, options))
    .segments.map(({ text }) => text)
    .join(' ')
}

const SAMPLES = new URL('../../../speech-to-text/samples/', import.meta.url)
const expected = JSON.parse(readFileSync(new URL('expected.json', SAMPLES), 'utf8')) as Record<string, string>

/** The samples of the example application, in voices that the templates do not use. */
export const recordings = Object.entries(expected).map(([name, text]) => ({
  name,
  text,
  file: readFileSync(new URL(name, SAMPLES)),
}))

/** Converts samples from 16 kHz to another sample rate. */
export function resampled(samples: Float32Array, to: number): Float32Array {
  const resampler = createResampler([16_000, to])
  return joinSamples([resampler.push(samples), resampler.end()])
}

/** The samples of a file, at 16 kHz. */
export function samplesOf(file: Uint8Array): Float32Array {
  const reader = createWavReader(() => [16_000])
  return joinSamples([reader.push(file), reader.end()])
}
