import { createWavHeaderReader, type WavHeader } from './read-wav-header.ts'

export interface TimedAudio {
  /** Duration of the recording, undefined if it is unknown. */
  readonly seconds: number | undefined
  /** The whole recording, from its beginning. */
  readonly audio: AsyncGenerator<Uint8Array>
}

const MAX_HEADER_BYTES = 65_536

/**
 * Reads the header of a WAV file to find out the duration. An invalid file is not an error here; its duration is
 * unknown. The caller closes `file`.
 *
 * @param uploadBytes the length of the request body, if it is known
 */
export async function readDuration(
  file: AsyncIterable<Uint8Array>,
  uploadBytes = Infinity,
): Promise<TimedAudio> {
  const reader = createWavHeaderReader()
  const iterator = file[Symbol.asyncIterator]()
  const beginning: Uint8Array[] = []
  let length = 0
  while (length < MAX_HEADER_BYTES && !reader.header) {
    const next = await iterator.next()
    if (next.done) break
    beginning.push(next.value)
    length += next.value.length
    try {
      reader.push(next.value)
    } catch {
      break
    }
  }
  return { seconds: durationOf(reader.header, uploadBytes), audio: from(beginning, iterator) }
}

function durationOf(header: WavHeader | undefined, uploadBytes: number): number | undefined {
  const bytes = Math.min(header?.dataBytes ?? Infinity, uploadBytes)
  if (!header || bytes === Infinity) return undefined
  const { sampleRate, channels, bytesPerSample } = header.format
  return bytes / (sampleRate * channels * bytesPerSample)
}

async function* from(
  beginning: readonly Uint8Array[],
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* beginning
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
}
