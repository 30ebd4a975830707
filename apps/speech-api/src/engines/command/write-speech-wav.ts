import { raceSignal } from 'race-signal'
import type { FileHandle } from 'node:fs/promises'
import type { RecordingFacts } from '../speech-engine.ts'
import { createWavReader } from '../../wav/wav-reader.ts'

/** Writes the header of a WAV file with one channel of 16-bit samples. */
function writeWavHeader(sampleRate: number, samples: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples * 2, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples * 2, 40)
  return header
}

/** Yields what the source yields until the signal aborts, then throws its reason, even in the middle of a read. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted()
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await raceSignal(iterator.next(), signal)
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: `return` waits for a pending read, which may never settle.
    iterator.return?.().catch(() => undefined)
  }
}

/** The sample rate that speech recognition models are trained with. */
const SAMPLE_RATE = 16_000

/**
 * Converts any supported WAV file to the format that every speech recogniser accepts: one channel, 16 kHz, 16 bits.
 *
 * @returns what is known about the recording
 * @throws {AudioError} if the recording cannot be read
 */
export async function writeSpeechWav(
  file: FileHandle,
  audio: AsyncIterable<Uint8Array>,
): Promise<RecordingFacts> {
  const reader = createWavReader(() => [SAMPLE_RATE])
  let written = 0
  const write = async (samples: Float32Array) => {
    await file.appendFile(pcm(samples))
    written += samples.length
  }
  await file.write(writeWavHeader(SAMPLE_RATE, 0))
  for await (const bytes of audio) await write(reader.push(bytes))
  await write(reader.end())
  await file.write(writeWavHeader(SAMPLE_RATE, written), 0, undefined, 0)
  return reader
}

function pcm(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2)
  samples.forEach((sample, index) => {
    bytes.writeInt16LE(Math.max(-0x8000, Math.min(0x7fff, Math.round(sample * 0x8000))), index * 2)
  })
  return bytes
}
