import { createResampler, type Resampler } from './resampler.ts'
import { createWavDecoder } from './wav-decoder.ts'

export interface WavReader {
  /** The sample rate of the file, known once its header has been pushed. */
  readonly sampleRate: number | undefined
  /** Duration of the samples read so far. */
  readonly durationSeconds: number
  /** Takes the next bytes of the file and returns the samples that they complete. */
  push(bytes: Uint8Array): Float32Array
  /**
   * Returns the remaining samples.
   *
   * @throws {AudioError} if the file contained no sample
   */
  end(): Float32Array
}

/**
 * Reads a WAV file as one channel at a fixed sample rate.
 *
 * @param through the sample rates to convert a recording to, one after another, given its own
 */
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
      const samples = decoder.push(bytes)
      if (!decoder.format) return samples
      read += samples.length
      resampler ??= createResampler([decoder.format.sampleRate, ...through(decoder.format.sampleRate)])
      return resampler.push(samples)
    },
    end() {
      decoder.end()
      return resampler?.end() ?? new Float32Array()
    },
  }
}
