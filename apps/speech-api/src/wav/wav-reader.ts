import { join } from './join.ts'
import { createResampler, type Resampler } from './resampler.ts'
import { createWavDecoder } from './wav-decoder.ts'

export interface WavReader {
  /** The sample rate of the file, known once its header has passed through `push`. */
  readonly sampleRate: number | undefined
  /** How much has been read. */
  readonly durationSeconds: number
  /** Takes the next bytes of the file and returns the samples that they complete. */
  push(bytes: Uint8Array): Float32Array
  /** Returns what was still held back; throws `AudioError` if the file held no sample. */
  end(): Float32Array
}

/** Reads a WAV file of any sample rate as one channel at the last of the rates that `through` gives for its own. */
export function createWavReader(through: (sampleRate: number) => readonly number[]): WavReader {
  const decoder = createWavDecoder()
  let resampler: Resampler | undefined
  let read = 0
  return {
    get sampleRate() {
      return decoder.format?.sampleRate
    },
    get durationSeconds() {
      return decoder.format ? read / decoder.format.sampleRate : 0
    },
    push(bytes) {
      const samples = join(decoder.push(bytes))
      read += samples.length
      if (!decoder.format) return samples
      resampler ??= createResampler([decoder.format.sampleRate, ...through(decoder.format.sampleRate)])
      return resampler.push(samples)
    },
    end() {
      decoder.end()
      return resampler?.end() ?? new Float32Array()
    },
  }
}
