import { createWavHeaderReader, type WavHeader } from './read-wav-header.ts'
import { createResampler, type Resampler } from './resampler.ts'
import { createWavDecoder } from './wav-decoder.ts'

export interface WavReader {
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

/** Reads a WAV file as one channel at the given sample rate. */
export function createWavReader(sampleRate: number): WavReader {
  const decoder = createWavDecoder()
  let resampler: Resampler | undefined
  let read = 0
  let isSilent = true
  return {
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
      resampler ??= createResampler(decoder.format.sampleRate, sampleRate)
      return resampler.push(samples)
    },
    end() {
      decoder.end()
      return resampler?.end() ?? new Float32Array()
    },
  }
}

export interface TimedAudio {
  /** Duration of the recording, undefined if it is unknown. */
  readonly seconds: number | undefined
  /** The whole recording, from its beginning. */
  readonly audio: AsyncGenerator<Uint8Array>
}

const MAX_HEADER_BYTES = 65_536

/**
 * Reads the header of a WAV file to find out the duration. An invalid file is not an error here; its duration is
 * unknown. The caller closes `file`.
 *
 * @param uploadBytes the length of the request body, if it is known
 */
export async function readDuration(
  file: AsyncIterable<Uint8Array>,
  uploadBytes = Infinity,
): Promise<TimedAudio> {
  const reader = createWavHeaderReader()
  const iterator = file[Symbol.asyncIterator]()
  const beginning: Uint8Array[] = []
  let length = 0
  while (length < MAX_HEADER_BYTES && !reader.header) {
    const next = await iterator.next()
    if (next.done) break
    beginning.push(next.value)
    length += next.value.length
    try {
      reader.push(next.value)
    } catch {
      break
    }
  }
  return { seconds: durationOf(reader.header, uploadBytes), audio: from(beginning, iterator) }
}

function durationOf(header: WavHeader | undefined, uploadBytes: number): number | undefined {
  const bytes = Math.min(header?.dataBytes ?? Infinity, uploadBytes)
  if (!header || bytes === Infinity) return undefined
  const { sampleRate, channels, bytesPerSample } = header.format
  return bytes / (sampleRate * channels * bytesPerSample)
}

async function* from(
  beginning: readonly Uint8Array[],
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* beginning
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
}
