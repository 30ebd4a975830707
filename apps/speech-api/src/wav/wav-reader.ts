import { createResampler, type Resampler } from './resampler.ts'
import { createWavDecoder } from './wav-decoder.ts'

export interface WavReader {
  /** The sample rate of the file, known once its header has been pushed. */
  readonly sampleRate: number | undefined
  /** Duration of the samples read so far. */
  readonly durationSeconds: number
  /** Duration of the samples that the header states but that have not arrived. */
  readonly missingSeconds: number
  /** Whether no sample so far is loud enough for speech. */
  readonly isSilent: boolean
  /** Takes the next bytes of the file and returns the samples that they complete. */
  push(bytes: Uint8Array): Float32Array
  /**
   * Returns the remaining samples.
   *
   * @throws {AudioError} if the file contained no sample
   */
  end(): Float32Array
}

const MAX_SILENCE = 3e-4 // -70 dB of full scale

/** Whether samples are too quiet to contain speech. */
export function areSilent(samples: Float32Array): boolean {
  return samples.every((sample) => Math.abs(sample) < MAX_SILENCE)
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
  let isSilent = true
  return {
    get sampleRate() {
      return decoder.format?.sampleRate
    },
    get durationSeconds() {
      return decoder.format ? read / decoder.format.sampleRate : 0
    },
    get missingSeconds() {
      if (!decoder.format) return 0
      const { sampleRate, channels, bytesPerSample } = decoder.format
      return decoder.missingBytes / (sampleRate * channels * bytesPerSample)
    },
    get isSilent() {
      return isSilent
    },
    push(bytes) {
      const samples = decoder.push(bytes)
      if (!decoder.format) return samples
      read += samples.length
      isSilent &&= areSilent(samples)
      resampler ??= createResampler([decoder.format.sampleRate, ...through(decoder.format.sampleRate)])
      return resampler.push(samples)
    },
    end() {
      decoder.end()
      return resampler?.end() ?? new Float32Array()
    },
  }
}
