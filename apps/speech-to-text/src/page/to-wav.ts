/** Enough for speech, and keeps uploads small. */
const SAMPLE_RATE = 16_000

/**
 * Converts a recording to WAV. A WAV file is returned unchanged; any other format that the browser can play is decoded.
 *
 * @throws {Error} with a message for the user
 */
export async function toWav(file: File): Promise<Blob> {
  const start = await file.slice(0, 12).text()
  if (start.startsWith('RIFF') && start.endsWith('WAVE')) return file
  try {
    const sound = await new OfflineAudioContext(1, 1, SAMPLE_RATE).decodeAudioData(await file.arrayBuffer())
    const channels = Array.from({ length: sound.numberOfChannels }, (_, index) => sound.getChannelData(index))
    return encodeWav(
      channels[0]!.map((_, at) => channels.reduce((sum, channel) => sum + channel[at]!, 0) / channels.length),
    )
  } catch {
    throw new Error(`${file.name} is not a recording that this browser can read.`)
  }
}

/** Encodes a WAV file with one channel and 16 bits. @param samples from -1 to 1 */
function encodeWav(samples: Float32Array): Blob {
  const bytes = samples.length * 2
  const header = new DataView(new ArrayBuffer(44))
  const write = (offset: number, letters: string) =>
    letters.split('').forEach((letter, index) => header.setUint8(offset + index, letter.charCodeAt(0)))
  write(0, 'RIFF')
  header.setUint32(4, 36 + bytes, true)
  write(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true) // PCM
  header.setUint16(22, 1, true) // one channel
  header.setUint32(24, SAMPLE_RATE, true)
  header.setUint32(28, SAMPLE_RATE * 2, true)
  header.setUint16(32, 2, true)
  header.setUint16(34, 16, true)
  write(36, 'data')
  header.setUint32(40, bytes, true)
  const data = Int16Array.from(samples, (sample) => Math.max(-1, Math.min(1, sample)) * 0x7fff)
  return new Blob([header, data], { type: 'audio/wav' })
}
