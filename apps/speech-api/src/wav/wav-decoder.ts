import { AudioError } from '../audio-error.ts'
import { createSampleReader } from './sample-reader.ts'
import { parseWavFormat, type WavFormat } from './wav-format.ts'

export interface WavDecoder {
  /** Known once the header has passed through `push`. */
  readonly format: WavFormat | undefined
  /** Bytes of samples that the header speaks of, Infinity where it leaves that open; known once it has passed. */
  readonly announcedBytes: number | undefined
  /** Takes the next bytes of the file and returns the samples that they complete, mixed to one channel. */
  push(bytes: Uint8Array): Float32Array[]
  /** Says that the file is over; throws if no sample was in it. */
  end(): void
}

const STREAMED = 0xffffffff
const LONGEST_FORMAT_CHUNK = 4_096

/** Decodes a WAV file piece by piece as it arrives; throws `AudioError` as soon as it turns out not to be one. */
export function createWavDecoder(): WavDecoder {
  let format: WavFormat | undefined
  let readSamples: ((frames: Uint8Array) => Float32Array) | undefined
  let kept: Uint8Array = new Uint8Array()
  let position = 0 // in the file, of the first byte kept
  let riffEnd = 0
  let state: 'riff' | 'chunk' | 'format' | 'skip' | 'data' | 'done' = 'riff'
  let left = 0 // bytes of the current chunk not yet read
  let announcedBytes: number | undefined
  let heard = false
  const samples: Float32Array[] = []

  const take = (length: number): Uint8Array => {
    const taken = kept.subarray(0, length)
    kept = kept.subarray(length)
    position += length
    return taken
  }

  const steps = {
    riff(): boolean {
      if (kept.length < 12) return false
      const head = take(12)
      const kind = text(head, 0)
      if ((kind !== 'RIFF' && kind !== 'RF64') || text(head, 8) !== 'WAVE') throw notWav()
      const length = uint32(head, 4)
      riffEnd = length === STREAMED ? 0 : length + 8
      state = 'chunk'
      return true
    },
    chunk(): boolean {
      if (kept.length < 8) return false
      const head = take(8)
      const kind = text(head, 0)
      const length = uint32(head, 4)
      left = length + (length % 2) // chunks are padded to an even length
      state = 'skip'
      if (kind === 'fmt ' && !format) {
        if (length > LONGEST_FORMAT_CHUNK) throw broken('has a format chunk of an impossible length')
        state = 'format'
      } else if (kind === 'data') {
        if (!format) throw broken('has samples before it says what format they are in')
        // A writer that could not go back to fill in the length leaves 0 or all ones: the samples go on to the end.
        const unknown = length === STREAMED || (length === 0 && riffEnd <= position)
        left = unknown ? Infinity : length
        announcedBytes = left
        state = 'data'
      }
      return true
    },
    format(): boolean {
      if (kept.length < left) return false
      format = parseWavFormat(take(left))
      readSamples = createSampleReader(format)
      state = 'chunk'
      return true
    },
    skip(): boolean {
      left -= take(Math.min(left, kept.length)).length
      if (left === 0) state = 'chunk'
      return left === 0
    },
    data(): boolean {
      if (!format || !readSamples) return false
      const bytesPerFrame = format.channels * format.bytesPerSample
      const available = Math.min(left, kept.length)
      const whole = available - (available % bytesPerFrame)
      if (whole > 0) {
        samples.push(readSamples(take(whole)))
        left -= whole
        heard = true
      }
      if (left >= bytesPerFrame) return false
      state = 'done'
      return true
    },
    done(): boolean {
      take(kept.length)
      return false
    },
  }

  return {
    get format() {
      return format
    },
    get announcedBytes() {
      return announcedBytes
    },
    push(bytes) {
      kept = kept.length === 0 ? bytes : Buffer.concat([kept, bytes])
      while (steps[state]());
      return samples.splice(0)
    },
    end() {
      if (position === 0 && kept.length === 0) throw new AudioError('empty_file', 'The file is empty.')
      if (state === 'riff') throw notWav()
      if (!format) throw broken('ends before it says what format its samples are in')
      if (!heard) throw new AudioError('no_samples', 'The WAV file holds no samples.')
    },
  }
}

function text(bytes: Uint8Array, offset: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + 4))
}

function uint32(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0, true)
}

function notWav(): AudioError {
  return new AudioError('not_a_wav', 'The file is not a WAV file: it does not begin with a RIFF/WAVE header.')
}

function broken(what: string): AudioError {
  return new AudioError('broken_wav', `The WAV file is broken: it ${what}.`)
}
