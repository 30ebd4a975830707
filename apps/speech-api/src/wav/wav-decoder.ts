import { AudioError } from './audio-error.ts'
import { createWavHeaderReader } from './read-wav-header.ts'
import { createSampleReader } from './sample-reader.ts'
import type { WavFormat } from './wav-format.ts'

export interface WavDecoder {
  /** Known once the header has been pushed. */
  readonly format: WavFormat | undefined
  /** Bytes of samples that the header states but that have not arrived; 0 if it does not state a length. */
  readonly missingBytes: number
  /** Takes the next bytes of the file and returns the samples that they complete, mixed to one channel. */
  push(bytes: Uint8Array): Float32Array
  /** @throws {AudioError} if the file contained no sample */
  end(): void
}

/** Decodes a WAV file piece by piece as it arrives; throws `AudioError` as soon as it turns out not to be one. */
export function createWavDecoder(): WavDecoder {
  const headerReader = createWavHeaderReader()
  let readSamples: ((frames: Uint8Array) => Float32Array) | undefined
  let remaining = 0 // bytes of samples not decoded yet
  let incomplete: Uint8Array = new Uint8Array() // the beginning of a frame
  let empty = true
  return {
    get format() {
      return headerReader.header?.format
    },
    get missingBytes() {
      return remaining === Infinity ? 0 : remaining - incomplete.length
    },
    push(bytes) {
      const data = headerReader.push(bytes)
      const { header } = headerReader
      if (!header) return new Float32Array()
      if (!readSamples) {
        readSamples = createSampleReader(header.format)
        remaining = header.dataBytes
      }
      const available = incomplete.length === 0 ? data : Buffer.concat([incomplete, data])
      const length = Math.min(remaining, available.length)
      const whole = length - (length % (header.format.channels * header.format.bytesPerSample))
      remaining -= whole
      incomplete = available.subarray(whole, length)
      empty &&= whole === 0
      return readSamples(available.subarray(0, whole))
    },
    end() {
      headerReader.end()
      if (empty) throw new AudioError('no_samples', 'The WAV file contains no samples.')
    },
  }
}
