/** Encodes a WAV file with one channel and 16 bits. @param samples from -1 to 1 */
function encodeWav(samples: Float32Array, sampleRate: number): Blob {
  const header = new DataView(new ArrayBuffer(44))
  const bytes = samples.length * 2
  const text = (offset: number, letters: string) => {
    for (let index = 0; index < letters.length; index++) {
      header.setUint8(offset + index, letters.charCodeAt(index))
    }
  }
  text(0, 'RIFF')
  header.setUint32(4, 36 + bytes, true)
  text(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, sampleRate, true)
  header.setUint32(28, sampleRate * 2, true)
  header.setUint16(32, 2, true)
  header.setUint16(34, 16, true)
  text(36, 'data')
  header.setUint32(40, bytes, true)
  const data = Int16Array.from(samples, (sample) => Math.max(-1, Math.min(1, sample)) * 0x7fff)
  return new Blob([header, data], { type: 'audio/wav' })
}

/** Enough for speech, and keeps uploads small. */
const sampleRate = 16_000

/**
 * Converts a recording to WAV. WAV files are returned unchanged; any other format that the browser can play is decoded.
 *
 * @throws {Error} with a message for the user
 */
export async function toWav(file: File): Promise<Blob> {
  if (await isWav(file)) return file
  let sound: AudioBuffer
  try {
    sound = await new OfflineAudioContext(1, 1, sampleRate).decodeAudioData(await file.arrayBuffer())
  } catch {
    throw new Error(`${file.name} is not a recording that this browser can read.`)
  }
  const channels = Array.from({ length: sound.numberOfChannels }, (_, index) => sound.getChannelData(index))
  return encodeWav(mix(channels), sound.sampleRate)
}

async function resample(samples: Float32Array<ArrayBuffer>, fromRate: number): Promise<Float32Array> {
  if (fromRate === sampleRate || samples.length === 0) return samples
  const context = new OfflineAudioContext(1, Math.ceil((samples.length * sampleRate) / fromRate), sampleRate)
  const source = context.createBufferSource()
  source.buffer = context.createBuffer(1, samples.length, fromRate)
  source.buffer.copyToChannel(samples, 0)
  source.connect(context.destination)
  source.start()
  return (await context.startRendering()).getChannelData(0)
}

/** Converts samples from any sample rate to a WAV file at 16 kHz. */
export async function resampleToWav(samples: Float32Array<ArrayBuffer>, fromRate: number): Promise<Blob> {
  return encodeWav(await resample(samples, fromRate), sampleRate)
}

async function isWav(file: File): Promise<boolean> {
  const start = new TextDecoder('latin1').decode(await file.slice(0, 12).arrayBuffer())
  return start.startsWith('RIFF') && start.endsWith('WAVE')
}

function mix(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array()] = channels
  if (channels.length < 2) return first
  return first.map(
    (_, index) => channels.reduce((sum, channel) => sum + channel[index]!, 0) / channels.length,
  )
}
