import { describe, expect, test } from 'vitest'
import { ApiError } from '@tokenwell/speech-api'
import { wavChunk, wavFile, type WavFileOptions } from '../support/wav-file.ts'
import { joinSamples, createResampler } from '../../src/wav/resampler.ts'
import { openWavFile } from '../../src/wav/wav-file.ts'
import { largestDifference, tone, level, samplesOf, withFile } from '../support/recordings.ts'

const samples = tone(440, 16_000, 0.1)

const read = samplesOf
const expected = await read(wavFile(samples))

/** What is known of a file before its samples are read. */
function factsOf(file: Uint8Array) {
  return withFile(file, async (path) => {
    await using wav = await openWavFile(path)
    const { durationSeconds, missingSeconds } = wav
    return { durationSeconds, missingSeconds }
  })
}

async function codeOf(file: Uint8Array): Promise<string> {
  try {
    await read(file)
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
  return 'read'
}

function withFormat(change: (format: Buffer) => void): Buffer {
  const file = wavFile(samples)
  change(file.subarray(20, 36))
  return file
}

describe('decodes the same samples from', () => {
  const encodings: [string, WavFileOptions, number][] = [
    ['8 bits', { bits: 8 }, 1 / 100],
    ['16 bits', { bits: 16 }, 1e-4],
    ['24 bits', { bits: 24 }, 1e-6],
    ['32 bits', { bits: 32 }, 1e-6],
    ['float of 32 bits', { encoding: 'float', bits: 32 }, 1e-7],
    ['float of 64 bits', { encoding: 'float', bits: 64 }, 1e-7],
    ['stereo', { channels: 2 }, 1e-4],
    ['six channels of 24 bits', { channels: 6, bits: 24 }, 1e-6],
    ['extensible', { extensible: true }, 1e-4],
    ['A-law', { encoding: 'a-law' }, 0.02],
    ['µ-law in stereo', { encoding: 'µ-law', channels: 2 }, 0.025],
    ['extensible float', { extensible: true, encoding: 'float', bits: 32, channels: 2 }, 1e-7],
  ]
  test.each(encodings)('%s', async (_, options, tolerance) => {
    const decoded = await read(wavFile(samples, options))
    expect(decoded).toHaveLength(samples.length)
    expect(largestDifference(samples, decoded)).toBeLessThan(tolerance)
  })
})

test('decodes the codes of G.711 that its tables list', async () => {
  const codes = Uint8Array.of(0xd5, 0x55, 0xaa, 0x2a, 0xff, 0x7f, 0x80, 0x00)
  const decode = async (encoding: 'a-law' | 'µ-law') => {
    const file = wavFile(new Float32Array(codes.length), { encoding })
    file.set(codes, file.length - codes.length)
    return [...(await read(file))].map((sample) => sample * 0x8000)
  }
  expect((await decode('a-law')).slice(0, 4)).toEqual([8, -8, 32_256, -32_256])
  expect((await decode('µ-law')).slice(4).map((sample) => sample + 0)).toEqual([0, 0, 32_124, -32_124])
})

test('reads the whole of a file that is longer than a piece', async () => {
  const long = tone(440, 16_000, 3)
  expect(largestDifference(long, await read(wavFile(long, { channels: 3, bits: 24 })))).toBeLessThan(1e-6)
})

test('mixes stereo to the mean of both channels', async () => {
  const file = wavFile(new Float32Array(4), { channels: 2 })
  for (let frame = 0; frame < 4; frame++) file.writeInt16LE(16_384, file.length - 16 + frame * 4)
  expect([...(await read(file))]).toEqual([0.25, 0.25, 0.25, 0.25])
})

test('keeps the sign of the smallest and largest samples', async () => {
  const file = wavFile(Float32Array.of(0, 0), { bits: 24 })
  file.set([0x00, 0x00, 0x80, 0xff, 0xff, 0xff], file.length - 6)
  expect([...(await read(file))]).toEqual([-1, -(2 ** -23)])
})

test.each([NaN, -Infinity, 1e30])('rejects the sample %d', async (sample) => {
  for (const bits of [32, 64] as const) {
    expect(await codeOf(wavFile(Float32Array.of(0.5, sample, 0.25), { encoding: 'float', bits }))).toBe(
      'invalid_samples',
    )
  }
})

test('reads samples that are slightly too loud', async () => {
  const file = wavFile(Float32Array.of(0.5, 1.5, -2), { encoding: 'float', bits: 32 })
  expect([...(await read(file))]).toEqual([0.5, 1.5, -2])
})

describe('other chunks and lengths', () => {
  test('skips unknown chunks, even of odd length', async () => {
    const chunks = [wavChunk('LIST', Buffer.from('INFO odd')), wavChunk('junk', Buffer.alloc(33, 0xff))]
    expect(await read(wavFile(samples, { chunks }))).toEqual(expected)
  })

  test('ignores chunks after the samples', async () => {
    const file = Buffer.concat([wavFile(samples), wavChunk('LIST', Buffer.alloc(500, 0x7f))])
    expect(await read(file)).toEqual(expected)
  })

  test.each([
    ['all ones', { dataLength: 0xffffffff, riffLength: 0xffffffff }],
    ['zero', { dataLength: 0, riffLength: 0 }],
    ['zero, with the length of a file without samples', { dataLength: 0, riffLength: 36 }],
    ['the placeholder of SoX', { dataLength: 0x7ffff000, riffLength: 0x7ffff024 }],
  ])('reads to the end of the file when the length was never filled in: %s', async (_, lengths) => {
    expect(await read(wavFile(samples, lengths))).toEqual(expected)
    expect((await factsOf(wavFile(samples, lengths))).missingSeconds).toBe(0)
  })

  test('reads the samples of a truncated file', async () => {
    const file = wavFile(samples)
    const truncated = file.subarray(0, file.length - 1_001)
    expect(await read(truncated)).toEqual(expected.subarray(0, samples.length - 501))
    expect((await factsOf(truncated)).missingSeconds).toBeCloseTo(500.5 / 16_000, 6)
    expect(await factsOf(file)).toEqual({ durationSeconds: samples.length / 16_000, missingSeconds: 0 })
  })
})

describe('rejects with a code', () => {
  const header = wavFile(new Float32Array())
  const comment = wavChunk('LIST', Buffer.alloc(50, 0x7f))
  const commented = Buffer.concat([wavFile(new Float32Array(), { riffLength: 36 + comment.length }), comment])
  test.each<[string, Uint8Array, string]>([
    ['an empty file', new Uint8Array(), 'empty_file'],
    ['a text', Buffer.from('four two seven one'), 'not_a_wav'],
    ['a few bytes', Buffer.from('RIFF'), 'not_a_wav'],
    ['another RIFF file', wavChunk('RIFF', Buffer.from('AVI LIST')), 'not_a_wav'],
    ['a file that ends in its header', header.subarray(0, 30), 'malformed_wav'],
    ['samples before their format', wavChunk('RIFF', Buffer.from('WAVEdata\0\0\0\0')), 'malformed_wav'],
    [
      'a format chunk that is too short',
      wavChunk('RIFF', Buffer.concat([Buffer.from('WAVE'), wavChunk('fmt ', Buffer.alloc(8))])),
      'malformed_wav',
    ],
    ['a file without samples', header, 'no_samples'],
    ['a file without samples but with a comment', commented, 'no_samples'],
    ['MP3 in a WAV file', withFormat((format) => format.writeUInt16LE(85, 0)), 'unsupported_wav'],
    ['no channel', withFormat((format) => format.writeUInt16LE(0, 2)), 'unsupported_wav'],
    ['4 kHz', withFormat((format) => format.writeUInt32LE(4_000, 4)), 'unsupported_wav'],
    ['a sample rate of zero', withFormat((format) => format.writeUInt32LE(0, 4)), 'unsupported_wav'],
    ['frames of 5 bytes', withFormat((format) => format.writeUInt16LE(5, 12)), 'unsupported_wav'],
    [
      'an unknown extensible format',
      withFormat((format) => format.writeUInt16LE(0xfffe, 0)),
      'unsupported_wav',
    ],
  ])('%s', async (_, file, code) => {
    expect(await codeOf(file)).toBe(code)
  })

  test('a format chunk of impossible length, without reading it', async () => {
    const endless = wavChunk('fmt ', Buffer.alloc(8), 0xfffffff0)
    const file = wavChunk('RIFF', Buffer.concat([Buffer.from('WAVE'), endless]))
    await expect(read(file)).rejects.toThrow('impossible length')
  })

  test('a file truncated at any byte, unless it can be read', async () => {
    const file = wavFile(samples.subarray(0, 20), { chunks: [wavChunk('LIST', Buffer.alloc(9))] })
    for (let length = 0; length < file.length; length++) {
      expect(['empty_file', 'not_a_wav', 'malformed_wav', 'no_samples', 'read']).toContain(
        await codeOf(file.subarray(0, length)),
      )
    }
  })
})

function resample(
  samples: Float32Array,
  from: number,
  to: number,
  pieceLength = samples.length,
): Float32Array {
  const resampler = createResampler(from, to)
  const pieces: Float32Array[] = []
  for (let start = 0; start < samples.length; start += pieceLength) {
    pieces.push(resampler.push(samples.subarray(start, start + pieceLength)))
  }
  return joinSamples([...pieces, resampler.end()])
}

test.each([8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 44_101, 48_000, 96_000, 384_000])(
  'converts a tone from %d Hz to 16 kHz',
  (rate) => {
    const converted = resample(tone(1_000, rate, 0.5), rate, 16_000)
    expect(converted.length).toBeCloseTo(8_000, -1)
    const ends = 200
    const middle = converted.subarray(ends, 8_000 - ends)
    expect(largestDifference(tone(1_000, 16_000, 0.5).subarray(ends, 8_000 - ends), middle)).toBeLessThan(
      2e-3,
    )
  },
)

test.each([9_500, 12_000, 20_000])('removes a tone of %d Hz without aliasing', (hertz) => {
  const decibels = 20 * Math.log10(level(resample(tone(hertz, 48_000, 0.5), 48_000, 16_000)) / 0.35)
  expect(decibels).toBeLessThan(-60)
})

test.each([1, 7, 160, 4_096])('converts pieces of %d samples like the whole', (pieceLength) => {
  const samples = tone(700, 44_100, 0.1)
  expect(resample(samples, 44_100, 16_000, pieceLength)).toEqual(resample(samples, 44_100, 16_000))
})

test('returns nothing for no samples', () => {
  expect(resample(new Float32Array(), 44_100, 16_000)).toHaveLength(0)
})
