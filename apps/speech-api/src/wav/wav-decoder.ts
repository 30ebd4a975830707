import { createWavHeaderReader } from './read-wav-header.ts'

/** Stable codes that callers may compare. */
export type AudioErrorCode =
  | 'empty_file'
  | 'not_a_wav'
  | 'malformed_wav'
  | 'unsupported_wav'
  | 'no_samples'
  | 'invalid_samples'

/** A recording that cannot be read. The message is one sentence for the client. */
export class AudioError extends Error {
  override readonly name = 'AudioError'
  readonly code: AudioErrorCode

  constructor(code: AudioErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

export interface WavFormat {
  readonly encoding: 'integer' | 'float'
  readonly channels: number
  readonly sampleRate: number
  /** Of one sample of one channel: 20-bit samples are stored in 3 bytes, as 24-bit samples are. */
  readonly bytesPerSample: number
}

const INTEGER = 1
const FLOAT = 3
const EXTENSIBLE = 0xfffe
const NAMES: Readonly<Record<number, string>> = {
  2: 'ADPCM',
  6: 'A-law',
  7: 'µ-law',
  17: 'IMA ADPCM',
  49: 'GSM 6.10',
  85: 'MP3',
}
// The GUID of every registered format of WAVE_FORMAT_EXTENSIBLE ends in these bytes.
const GUID_TAIL = [0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71]

/** Reads the body of a `fmt ` chunk. */
export function parseWavFormat(chunk: Uint8Array): WavFormat {
  if (chunk.length < 16)
    throw new AudioError('malformed_wav', 'The format chunk of the WAV file is too short.')
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const channels = view.getUint16(2, true)
  const sampleRate = view.getUint32(4, true)
  const bytesPerFrame = view.getUint16(12, true)
  const tag = formatTag(view)
  if (tag !== INTEGER && tag !== FLOAT) {
    throw unsupported(`is encoded as ${NAMES[tag] ?? `format ${tag}`}. Send PCM or float samples`)
  }
  if (channels < 1 || channels > 32) throw unsupported(`has ${channels} channels. Send 1 to 32`)
  if (sampleRate < 8_000 || sampleRate > 384_000) {
    throw unsupported(`has a sample rate of ${sampleRate} Hz. Send 8,000 to 384,000 Hz`)
  }
  const bytesPerSample = bytesPerFrame / channels
  const allowed = tag === FLOAT ? [4, 8] : [1, 2, 3, 4]
  if (!allowed.includes(bytesPerSample)) {
    const bits = view.getUint16(14, true)
    const sizes = tag === FLOAT ? '32 or 64' : '8, 16, 24 or 32'
    throw unsupported(`has samples of ${bits} bits in frames of ${bytesPerFrame} bytes. Send ${sizes} bits`)
  }
  return { encoding: tag === FLOAT ? 'float' : 'integer', channels, sampleRate, bytesPerSample }
}

function formatTag(view: DataView): number {
  const tag = view.getUint16(0, true)
  if (tag !== EXTENSIBLE) return tag
  const known =
    view.byteLength >= 40 && GUID_TAIL.every((byte, position) => view.getUint8(26 + position) === byte)
  if (!known) throw unsupported('has an extensible format without a registered encoding. Send PCM')
  return view.getUint16(24, true)
}

function unsupported(reason: string): AudioError {
  return new AudioError('unsupported_wav', `The WAV file ${reason}.`)
}

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
