import { createWavDecoder } from './wav-decoder.ts'

export interface AnnouncedAudio {
  /** How long the recording is going to be; undefined if nothing tells. */
  readonly seconds: number | undefined
  /** All of the recording, from its beginning. */
  readonly audio: AsyncGenerator<Uint8Array>
}

const LONGEST_HEADER = 65_536

/**
 * Reads no more of a WAV file than tells how long it will be. What is wrong with it is for others to say, and to end
 * it is for the caller.
 *
 * @param uploadBytes the length of what holds the file, if that is known
 */
export async function readAnnouncedLength(
  file: AsyncIterable<Uint8Array>,
  uploadBytes = Infinity,
): Promise<AnnouncedAudio> {
  const decoder = createWavDecoder()
  const iterator = file[Symbol.asyncIterator]()
  const beginning: Uint8Array[] = []
  let length = 0
  while (length < LONGEST_HEADER && decoder.announcedBytes === undefined) {
    const next = await iterator.next()
    if (next.done) break
    beginning.push(next.value)
    length += next.value.length
    try {
      decoder.push(next.value)
    } catch {
      break
    }
  }
  const { format, announcedBytes = Infinity } = decoder
  const bytes = Math.min(announcedBytes, uploadBytes)
  return {
    seconds:
      format && bytes < Infinity
        ? bytes / (format.sampleRate * format.channels * format.bytesPerSample)
        : undefined,
    audio: from(beginning, iterator),
  }
}

async function* from(
  beginning: readonly Uint8Array[],
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* beginning
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
}
