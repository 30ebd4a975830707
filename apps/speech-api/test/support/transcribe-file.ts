import { readFileSync } from 'node:fs'
import { wavFile, type WavFileOptions } from '../../scripts/wav-file.ts'
import type { Bandwidth } from '../../src/engines/digits/features/cepstrum.ts'
import {
  type DigitTemplates,
  loadDigitTemplates,
} from '../../src/engines/digits/recognition/digit-templates.ts'
import { createDigitTranscription } from '../../src/engines/digits/digit-transcription.ts'
import type { Transcript } from '../../src/engines/speech-engine.ts'
import { createResampler, joinSamples } from '../../src/wav/resampler.ts'
import { createWavReader } from '../../src/wav/wav-reader.ts'

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
