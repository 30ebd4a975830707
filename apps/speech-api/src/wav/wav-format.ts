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
