import { ApiError } from '../api-error.ts'

export interface WavFormat {
  readonly encoding: 'integer' | 'float' | 'a-law' | 'µ-law'
  readonly channels: number
  readonly sampleRate: number
  /** The bytes of one sample of one channel: 20-bit samples are stored in 3 bytes, as 24-bit samples are. */
  readonly bytesPerSample: number
}

const EXTENSIBLE = 0xfffe
/** By format tag. Recorded calls are often in A-law or µ-law. */
const ENCODINGS: Readonly<Record<number, { encoding: WavFormat['encoding']; bytes: readonly number[] }>> = {
  1: { encoding: 'integer', bytes: [1, 2, 3, 4] },
  3: { encoding: 'float', bytes: [4, 8] },
  6: { encoding: 'a-law', bytes: [1] },
  7: { encoding: 'µ-law', bytes: [1] },
}
const OTHERS: Readonly<Record<number, string>> = { 2: 'ADPCM', 17: 'IMA ADPCM', 49: 'GSM 6.10', 85: 'MP3' }
// The GUID of every registered format of WAVE_FORMAT_EXTENSIBLE ends in these bytes.
const GUID_TAIL = Buffer.from('000000001000800000aa00389b71', 'hex')

/** Reads the body of a `fmt ` chunk. */
export function parseWavFormat(chunk: Buffer): WavFormat {
  if (chunk.length < 16)
    throw new ApiError(422, 'malformed_wav', 'The format chunk of the WAV file is too short.')
  const channels = chunk.readUInt16LE(2)
  const sampleRate = chunk.readUInt32LE(4)
  const bytesPerFrame = chunk.readUInt16LE(12)
  const tag = formatTag(chunk)
  const known = ENCODINGS[tag]
  if (!known)
    throw unsupported(`is encoded as ${OTHERS[tag] ?? `format ${tag}`}. Send PCM, float, A-law or µ-law`)
  if (channels < 1 || channels > 32) throw unsupported(`has ${channels} channels. Send 1 to 32`)
  if (sampleRate < 8_000 || sampleRate > 384_000)
    throw unsupported(`has a sample rate of ${sampleRate} Hz. Send 8,000 to 384,000 Hz`)
  const bytesPerSample = bytesPerFrame / channels
  if (!known.bytes.includes(bytesPerSample)) {
    const bits = known.bytes.map((bytes) => bytes * 8).join(', ')
    throw unsupported(`has frames of ${bytesPerFrame} bytes. Send samples of ${bits} bits`)
  }
  return { encoding: known.encoding, channels, sampleRate, bytesPerSample }
}

function formatTag(chunk: Buffer): number {
  const tag = chunk.readUInt16LE(0)
  if (tag !== EXTENSIBLE) return tag
  if (chunk.length < 40 || !chunk.subarray(26, 40).equals(GUID_TAIL))
    throw unsupported('has an extensible format without a registered encoding. Send PCM')
  return chunk.readUInt16LE(24)
}

function unsupported(reason: string): ApiError {
  return new ApiError(415, 'unsupported_wav', `The WAV file ${reason}.`)
}

/** Reads whole frames of interleaved samples into one channel between -1 and 1: the mean of all channels. */
export function toMono(frames: Buffer, format: WavFormat): Float32Array {
  const { channels, bytesPerSample } = format
  const read = sampleReader(format)
  const mono = new Float32Array(frames.length / (channels * bytesPerSample))
  for (let frame = 0, offset = 0; frame < mono.length; frame++) {
    let sum = 0
    for (let channel = 0; channel < channels; channel++, offset += bytesPerSample) sum += read(frames, offset)
    mono[frame] = sum / channels
  }
  return mono
}

function sampleReader({ encoding, bytesPerSample }: WavFormat): (frames: Buffer, offset: number) => number {
  if (encoding === 'float') {
    return bytesPerSample === 8
      ? (frames, offset) => checked(frames.readDoubleLE(offset))
      : (frames, offset) => checked(frames.readFloatLE(offset))
  }
  if (encoding !== 'integer') {
    const samples = encoding === 'a-law' ? A_LAW : MU_LAW
    return (frames, offset) => samples[frames[offset]!]!
  }
  // Samples of one byte are the only ones without a sign.
  if (bytesPerSample === 1) return (frames, offset) => (frames[offset]! - 128) / 0x80
  return (frames, offset) => frames.readIntLE(offset, bytesPerSample) / 2 ** (bytesPerSample * 8 - 1)
}

const MAX_SAMPLE = 1_000

function checked(sample: number): number {
  // Also false for NaN. Valid samples are between -1 and 1; some programs write slightly more.
  if (Math.abs(sample) <= MAX_SAMPLE) return sample
  const message = `The WAV file contains invalid samples: ${sample} is not between -1 and 1.`
  throw new ApiError(422, 'invalid_samples', message)
}

/** Both laws (ITU-T G.711) code a sample as a sign, an exponent of 3 bits and a mantissa of 4. */
const A_LAW = Float32Array.from({ length: 256 }, (_, code) => {
  const bits = code ^ 0x55
  const exponent = (bits >> 4) & 7
  const mantissa = ((bits & 15) << 4) + 8
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1)
  return (bits & 0x80 ? magnitude : -magnitude) / 0x8000
})

const MU_LAW = Float32Array.from({ length: 256 }, (_, code) => {
  const bits = ~code & 0xff
  const magnitude = ((((bits & 15) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84
  return (bits & 0x80 ? -magnitude : magnitude) / 0x8000
})
