import { AudioError, type WavFormat } from './wav-format.ts'
import { createWavHeaderReader } from './read-wav-header.ts'

const MAX_SAMPLE = 1_000

/** Reads whole frames of interleaved samples into one channel between -1 and 1: the mean of all channels. */
function createSampleReader(format: WavFormat): (frames: Uint8Array) => Float32Array {
  const { channels, bytesPerSample } = format
  const bytesPerFrame = channels * bytesPerSample
  const read = sampleOf(format)
  return (frames) => {
    const view = new DataView(frames.buffer, frames.byteOffset, frames.byteLength)
    const mono = new Float32Array(Math.floor(frames.length / bytesPerFrame))
    for (let frame = 0, offset = 0; frame < mono.length; frame++) {
      let sum = 0
      for (let channel = 0; channel < channels; channel++, offset += bytesPerSample) {
        sum += read(view, offset)
      }
      mono[frame] = sum / channels
    }
    return mono
  }
}

function sampleOf({ encoding, bytesPerSample }: WavFormat): (view: DataView, offset: number) => number {
  if (encoding === 'float') {
    return bytesPerSample === 8
      ? (view, offset) => checked(view.getFloat64(offset, true))
      : (view, offset) => checked(view.getFloat32(offset, true))
  }
  switch (bytesPerSample) {
    case 1: // the one width that is unsigned
      return (view, offset) => (view.getUint8(offset) - 128) / 0x80
    case 2:
      return (view, offset) => view.getInt16(offset, true) / 0x8000
    case 3:
      return (view, offset) => (view.getUint8(offset) | (view.getInt16(offset + 1, true) << 8)) / 0x800000
    default:
      return (view, offset) => view.getInt32(offset, true) / 0x80000000
  }
}

function checked(sample: number): number {
  // Also false for NaN. Valid samples are between -1 and 1; some programs write slightly more.
  if (Math.abs(sample) <= MAX_SAMPLE) return sample
  throw new AudioError(
    'invalid_samples',
    `The WAV file contains invalid samples: ${sample} is not between -1 and 1.`,
  )
}

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
