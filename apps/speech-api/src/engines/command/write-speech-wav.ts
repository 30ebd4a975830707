import type { FileHandle } from 'node:fs/promises'
import type { RecordingFacts } from '../create-transcript.ts'
import { writeWavHeader } from '../../wav/write-wav-header.ts'
import { createWavReader } from '../../wav/wav-reader.ts'

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
