export interface WavFileOptions {
  readonly sampleRate?: number
  readonly channels?: number
  readonly encoding?: 'integer' | 'float' | 'a-law' | 'µ-law'
  readonly bits?: 8 | 16 | 24 | 32 | 64
  readonly extensible?: boolean
  /** Length of the samples that the header states. */
  readonly dataLength?: number
  readonly riffLength?: number
  /** Chunks before the samples. */
  readonly chunks?: readonly Uint8Array[]
}

const GUID_TAIL = Buffer.from('000000001000800000aa00389b71', 'hex')

/** Encodes a WAV file with the same samples in each channel. */
export function wavFile(samples: Float32Array, options: WavFileOptions = {}): Buffer {
  const {
    sampleRate = 16_000,
    channels = 1,
    encoding = 'integer',
    bits = encoding.endsWith('law') ? 8 : 16,
  } = options
  const bytes = bits / 8
  const data = Buffer.alloc(samples.length * channels * bytes)
  samples.forEach((sample, index) => {
    for (let channel = 0; channel < channels; channel++) {
      writeSample(data, (index * channels + channel) * bytes, sample, encoding, bits)
    }
  })
  const tag = { integer: 1, float: 3, 'a-law': 6, 'µ-law': 7 }[encoding]
  const format = Buffer.alloc(options.extensible ? 40 : 16)
  format.writeUInt16LE(options.extensible ? 0xfffe : tag, 0)
  format.writeUInt16LE(channels, 2)
  format.writeUInt32LE(sampleRate, 4)
  format.writeUInt32LE(sampleRate * channels * bytes, 8)
  format.writeUInt16LE(channels * bytes, 12)
  format.writeUInt16LE(bits, 14)
  if (options.extensible) {
    format.writeUInt16LE(22, 16)
    format.writeUInt16LE(bits, 18)
    format.writeUInt16LE(tag, 24)
    GUID_TAIL.copy(format, 26)
  }
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    wavChunk('fmt ', format),
    ...(options.chunks ?? []),
    wavChunk('data', data, options.dataLength),
  ])
  return wavChunk('RIFF', body, options.riffLength)
}

/** Encodes one chunk of a RIFF file, padded to an even length. */
export function wavChunk(kind: string, body: Uint8Array, length = body.length): Buffer {
  const head = Buffer.alloc(8)
  head.write(kind, 'latin1')
  head.writeUInt32LE(length, 4)
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)])
}

function writeSample(data: Buffer, offset: number, sample: number, encoding: string, bits: number): void {
  if (encoding === 'float') {
    if (bits === 64) data.writeDoubleLE(sample, offset)
    else data.writeFloatLE(sample, offset)
    return
  }
  if (encoding.endsWith('law')) return void data.writeUInt8(companded(sample, encoding === 'a-law'), offset)
  const most = 2 ** (bits - 1) - 1
  const value = Math.round(Math.max(-1, Math.min(1, sample)) * most)
  if (bits === 8) data.writeUInt8(value + 128, offset)
  else data.writeIntLE(value, offset, bits / 8)
}

/** The continuous curves of G.711 (which its segments approximate), to be independent of the table that is tested. */
function companded(sample: number, isALaw: boolean): number {
  const magnitude = Math.min(1, Math.abs(sample))
  if (!isALaw) {
    const code = Math.round((127 * Math.log(1 + 255 * magnitude)) / Math.log(256))
    return ~((sample < 0 ? 0x80 : 0) | code) & 0xff
  }
  const a = 87.6
  const curve =
    magnitude < 1 / a
      ? (a * magnitude) / (1 + Math.log(a))
      : (1 + Math.log(a * magnitude)) / (1 + Math.log(a))
  return ((sample < 0 ? 0 : 0x80) | Math.round(127 * curve)) ^ 0x55
}
