import { type FileHandle, open } from 'node:fs/promises'
import { ApiError } from '../api-error.ts'
import { createResampler } from './resampler.ts'
import { parseWavFormat, toMono, type WavFormat } from './wav-format.ts'

/** A WAV file whose header has been read. */
export interface WavFile extends AsyncDisposable {
  readonly durationSeconds: number
  /** The duration of the samples that the header states but that the file lacks. */
  readonly missingSeconds: number
  /** Yields the samples of one channel, the mean of all, at another rate. */
  samples(sampleRate: number): AsyncGenerator<Float32Array>
}

/** @throws {ApiError} if the file is not a WAV file of a supported format */
export async function openWavFile(path: string): Promise<WavFile> {
  const file = await open(path)
  try {
    const { format, start, length, missing } = await readHeader(file)
    const bytesPerFrame = format.channels * format.bytesPerSample
    const bytesPerSecond = format.sampleRate * bytesPerFrame
    return {
      durationSeconds: length / bytesPerSecond,
      missingSeconds: missing / bytesPerSecond,
      async *samples(sampleRate) {
        const resampler = createResampler(format.sampleRate, sampleRate)
        const end = start + length - (length % bytesPerFrame)
        const bytes = Buffer.alloc(4_096 * bytesPerFrame)
        for (let at = start; at < end;) {
          const { bytesRead } = await file.read(bytes, 0, Math.min(bytes.length, end - at), at)
          if (bytesRead === 0) break
          yield resampler.push(toMono(bytes.subarray(0, bytesRead - (bytesRead % bytesPerFrame)), format))
          at += bytesRead
        }
        yield resampler.end()
      },
      [Symbol.asyncDispose]: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

interface Header {
  readonly format: WavFormat
  /** The position of the first sample. */
  readonly start: number
  /** The bytes of samples in the file, and those that it lacks. */
  readonly length: number
  readonly missing: number
}

const UNKNOWN_LENGTH = 0xffffffff
// SoX and others write a length close to 2 GiB when they cannot seek back to fill in the real one.
const PLACEHOLDER_LENGTH = 0x7ffff000
const MAX_FORMAT_BYTES = 4_096

/** Walks through the chunks of the RIFF file up to the first sample. */
async function readHeader(file: FileHandle): Promise<Header> {
  const { size } = await file.stat()
  const read = async (at: number, length: number) =>
    (await file.read(Buffer.alloc(length), 0, length, at)).buffer
  if (size === 0) throw new ApiError(400, 'empty_file', 'The file is empty.')
  const riff = await read(0, 12)
  const kind = riff.toString('latin1', 0, 4)
  if ((kind !== 'RIFF' && kind !== 'RF64') || riff.toString('latin1', 8) !== 'WAVE')
    throw new ApiError(
      415,
      'not_a_wav',
      'The file is not a WAV file: it does not start with a RIFF/WAVE header.',
    )
  const riffLength = riff.readUInt32LE(4)
  const riffEnd = riffLength === UNKNOWN_LENGTH ? 0 : riffLength + 8
  let format: WavFormat | undefined
  for (let at = 12; at + 8 <= size;) {
    const head = await read(at, 8)
    const length = head.readUInt32LE(4)
    const name = head.toString('latin1', 0, 4)
    at += 8
    if (name === 'data') {
      if (!format) throw malformed('its samples come before their format')
      // A writer that cannot seek back leaves 0, all ones or a placeholder: the samples go on to the end of the file.
      const unknown = length >= PLACEHOLDER_LENGTH || (length === 0 && riffEnd <= at)
      const available = size - at
      const stated = unknown ? available : length
      if (Math.min(stated, available) < format.channels * format.bytesPerSample) throw noSamples()
      const missing = Math.max(0, stated - available)
      return { format, start: at, length: Math.min(stated, available), missing }
    }
    if (name === 'fmt ' && !format) {
      if (length > MAX_FORMAT_BYTES) throw malformed('its format chunk has an impossible length')
      if (at + length > size) break
      format = parseWavFormat(await read(at, length))
    }
    at += length + (length % 2) // chunks are padded to an even length
  }
  throw format ? noSamples() : malformed('it ends before the format of its samples')
}

function noSamples(): ApiError {
  return new ApiError(422, 'no_samples', 'The WAV file contains no samples.')
}

function malformed(reason: string): ApiError {
  return new ApiError(422, 'malformed_wav', `The WAV file is malformed: ${reason}.`)
}

const MAX_SILENCE = 3e-4 // -70 dB of full scale

/** Whether samples are too quiet to contain speech. */
export function areSilent(samples: Float32Array): boolean {
  return samples.every((sample) => Math.abs(sample) < MAX_SILENCE)
}
