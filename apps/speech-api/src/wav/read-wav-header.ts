import { AudioError, parseWavFormat, type WavFormat } from './wav-format.ts'

export interface WavHeader {
  readonly format: WavFormat
  /** Length of the samples in bytes, Infinity if the header does not state it. */
  readonly dataBytes: number
}

export interface WavHeaderReader {
  /** Undefined until the whole header has been pushed. */
  readonly header: WavHeader | undefined
  /**
   * Takes the next bytes of the file and returns those that follow the header.
   *
   * @throws {AudioError} as soon as the bytes cannot be the header of a supported WAV file
   */
  push(bytes: Uint8Array): Uint8Array
  /** @throws {AudioError} if the file ends before its header does */
  end(): void
}

const UNKNOWN_LENGTH = 0xffffffff
// SoX and others write a length close to 2 GiB when they cannot seek back to fill in the real one.
const PLACEHOLDER_LENGTH = 0x7ffff000
const MAX_FORMAT_CHUNK_BYTES = 4_096

/** Reads the RIFF header of a WAV file, chunk by chunk, up to the first sample. */
export function createWavHeaderReader(): WavHeaderReader {
  let format: WavFormat | undefined
  let header: WavHeader | undefined
  let buffered: Uint8Array = new Uint8Array()
  let position = 0 // in the file, of the first buffered byte
  let riffEnd = 0 // 0 if unknown
  let state: 'riff' | 'chunk' | 'format' | 'skip' = 'riff'
  let chunkBytes = 0 // of the current chunk, not read yet

  const take = (length: number): Uint8Array => {
    const taken = buffered.subarray(0, length)
    buffered = buffered.subarray(length)
    position += length
    return taken
  }

  /** Each returns whether it got any further. */
  const steps = {
    riff(): boolean {
      if (buffered.length < 12) return false
      const head = take(12)
      const kind = text(head, 0)
      if ((kind !== 'RIFF' && kind !== 'RF64') || text(head, 8) !== 'WAVE') throw notWav()
      const length = uint32(head, 4)
      riffEnd = length === UNKNOWN_LENGTH ? 0 : length + 8
      state = 'chunk'
      return true
    },
    chunk(): boolean {
      if (buffered.length < 8) return false
      const head = take(8)
      const kind = text(head, 0)
      const length = uint32(head, 4)
      if (kind === 'data') {
        if (!format) throw malformed('its samples come before their format')
        // A writer that cannot seek back leaves 0, all ones or a placeholder: the samples go on to the end of the file.
        const unknown = length >= PLACEHOLDER_LENGTH || (length === 0 && riffEnd <= position)
        header = { format, dataBytes: unknown ? Infinity : length }
        return false
      }
      chunkBytes = length + (length % 2) // chunks are padded to an even length
      state = kind === 'fmt ' && !format ? 'format' : 'skip'
      if (state === 'format' && length > MAX_FORMAT_CHUNK_BYTES) {
        throw malformed('its format chunk has an impossible length')
      }
      return true
    },
    format(): boolean {
      if (buffered.length < chunkBytes) return false
      format = parseWavFormat(take(chunkBytes))
      state = 'chunk'
      return true
    },
    skip(): boolean {
      chunkBytes -= take(Math.min(chunkBytes, buffered.length)).length
      if (chunkBytes === 0) state = 'chunk'
      return chunkBytes === 0
    },
  }

  return {
    get header() {
      return header
    },
    push(bytes) {
      if (header) return bytes
      buffered = buffered.length === 0 ? bytes : Buffer.concat([buffered, bytes])
      while (steps[state]());
      return header ? take(buffered.length) : new Uint8Array()
    },
    end() {
      if (header) return
      if (position === 0 && buffered.length === 0) throw new AudioError('empty_file', 'The file is empty.')
      if (state === 'riff') throw notWav()
      if (!format) throw malformed('it ends before the format of its samples')
      throw new AudioError('no_samples', 'The WAV file contains no samples.')
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
  return new AudioError('not_a_wav', 'The file is not a WAV file: it does not start with a RIFF/WAVE header.')
}

function malformed(reason: string): AudioError {
  return new AudioError('malformed_wav', `The WAV file is malformed: ${reason}.`)
}
