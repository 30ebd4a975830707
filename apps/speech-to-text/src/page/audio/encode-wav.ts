/** Encodes a WAV file with one channel and 16 bits. @param samples from -1 to 1 */
export function encodeWav(samples: Float32Array, sampleRate: number): Blob {
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
