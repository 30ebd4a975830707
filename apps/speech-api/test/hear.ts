import { readFileSync } from 'node:fs'
import { wavFile, type WavFileOptions } from '../scripts/wav-file.ts'
import type { Bandwidth } from '../src/digits/bandwidth.ts'
import { type DigitTemplates, loadDigitTemplates } from '../src/digits/digit-templates.ts'
import { createDigitTranscription } from '../src/digits/digit-transcription.ts'
import type { Transcript } from '../src/speech-engine.ts'
import { createResampler } from '../src/wav/resampler.ts'
import { createWavReader } from '../src/wav/wav-reader.ts'
import { join } from '../src/wav/join.ts'

const loaded = new Map<Bandwidth, DigitTemplates>()

/** Transcribes a WAV file in this thread. */
export function hearFile(file: Uint8Array, pieceLength = file.length): Transcript {
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

/** The digits heard in samples, as they would be in a WAV file. */
export function hear(samples: Float32Array, options?: WavFileOptions): string {
  return hearFile(wavFile(samples, options))
    .segments.map(({ text }) => text)
    .join(' ')
}

const SAMPLES = new URL('../../speech-to-text/samples/', import.meta.url)
const expected = JSON.parse(readFileSync(new URL('expected.json', SAMPLES), 'utf8')) as Record<string, string>

/** The example application's recordings, by voices that no template was made with. */
export const recordings = Object.entries(expected).map(([name, text]) => ({
  name,
  text,
  file: readFileSync(new URL(name, SAMPLES)),
}))

/** The same sound at another sample rate. */
export function resampled(samples: Float32Array, to: number): Float32Array {
  const resampler = createResampler([16_000, to])
  return join([resampler.push(samples), resampler.end()])
}

/** The samples of a file, at 16 kHz. */
export function samplesOf(file: Uint8Array): Float32Array {
  const reader = createWavReader(() => [16_000])
  return join([reader.push(file), reader.end()])
}
