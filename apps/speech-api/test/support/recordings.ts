import { readFileSync } from 'node:fs'
import type { ExpectedSpeech } from '@tokenwell/speech-api'
import { createResampler, joinSamples } from '../../src/wav/resampler.ts'
import { createWavReader } from '../../src/wav/wav-reader.ts'
import { wavFile } from './wav-file.ts'

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

/** Converts samples from 16 kHz to another sample rate. */
export function resampled(samples: Float32Array, to: number): Float32Array {
  const resampler = createResampler(16_000, to)
  return joinSamples([resampler.push(samples), resampler.end()])
}

/** The samples of a file, at 16 kHz. */
export function samplesOf(file: Uint8Array): Float32Array {
  const reader = createWavReader(16_000)
  return joinSamples([reader.push(file), reader.end()])
}

const FOLDER = new URL('../../../speech-to-text/samples/', import.meta.url)

interface Sample {
  readonly name: string
  readonly wav: Uint8Array<ArrayBuffer>
  readonly expected: ExpectedSpeech
  readonly text: string
}

/** The samples of the example application. */
export const samples: readonly Sample[] = (
  JSON.parse(readFileSync(new URL('samples.json', FOLDER), 'utf8')) as {
    file: string
    expected: ExpectedSpeech
    text: string
  }[]
).map(({ file, ...sample }) => ({
  ...sample,
  name: file,
  wav: Uint8Array.from(readFileSync(new URL(file, FOLDER))),
}))

/** A sample of digits, which are expected unless a request says otherwise. */
export const digits = samples.find(({ expected }) => expected.grammar === 'digits') as Sample

/** A form with a recording and what is expected in it. */
export function formOf({ wav, expected }: Pick<Sample, 'wav' | 'expected'>): FormData {
  const form = new FormData()
  if (expected.grammar === 'text') form.set('text', expected.text)
  else if (expected.grammar === 'phrases') form.set('phrases', expected.phrases.join('\n'))
  else form.set('grammar', expected.grammar)
  form.set('file', new Blob([wav]), 'recording.wav')
  return form
}

/** The sample of digits several times, with pauses between them. */
export function repeated(times: number): Pick<Sample, 'wav' | 'text'> {
  const once = joinSamples([samplesOf(digits.wav), new Float32Array(0.4 * 16_000)])
  const wav = wavFile(joinSamples(Array.from({ length: times }, () => once)))
  return {
    wav: Uint8Array.from(wav),
    text: Array.from({ length: times }, () => digits.text).join(' '),
  }
}
