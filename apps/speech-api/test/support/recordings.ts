import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createResampler, joinSamples } from '../../src/wav/resampler.ts'
import { openWavFile } from '../../src/wav/wav-file.ts'
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

/** Writes a file, and removes it again. */
export async function withFile<T>(content: Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'recording-'))
  try {
    const path = join(folder, 'recording.wav')
    await writeFile(path, content)
    return await use(path)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The samples of a file. */
export function samplesOf(file: Uint8Array, sampleRate = 16_000): Promise<Float32Array> {
  return withFile(file, async (path) => {
    await using wav = await openWavFile(path)
    const pieces: Float32Array[] = []
    for await (const piece of wav.samples(sampleRate)) pieces.push(piece)
    return joinSamples(pieces)
  })
}

const FOLDER = new URL('../../../speech-to-text/samples/', import.meta.url)

export type Fields = Readonly<Record<string, string>>

interface Sample {
  readonly name: string
  readonly wav: Uint8Array<ArrayBuffer>
  readonly fields: Fields
  readonly text: string
}

/** The samples of the example application. */
export const samples: readonly Sample[] = (
  JSON.parse(readFileSync(new URL('samples.json', FOLDER), 'utf8')) as {
    file: string
    fields: Fields
    text: string
  }[]
).map(({ file, ...sample }) => ({
  ...sample,
  name: file,
  wav: Uint8Array.from(readFileSync(new URL(file, FOLDER))),
}))

/** The path of a sample. */
export function sampleFile(name: string): string {
  return fileURLToPath(new URL(name, FOLDER))
}

/** The sample for each kind of expected speech. */
export function sampleOf(expected: string): Sample {
  return samples.find(({ fields }) => fields['expected'] === expected)!
}

/** A form with a recording and what is expected in it. */
export function formOf({ wav, fields }: { wav?: Uint8Array<ArrayBuffer>; fields: Fields }): FormData {
  const form = new FormData()
  if (wav) form.set('file', new Blob([wav]), 'recording.wav')
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

/** The sample of digits several times, with pauses between them. */
export async function repeated(times: number): Promise<{ wav: Uint8Array<ArrayBuffer>; text: string }> {
  const digits = sampleOf('digits')
  const once = joinSamples([await samplesOf(digits.wav), new Float32Array(0.4 * 16_000)])
  const wav = wavFile(joinSamples(Array.from({ length: times }, () => once)))
  return { wav: Uint8Array.from(wav), text: Array.from({ length: times }, () => digits.text).join(' ') }
}
