/** A WAV file of silence: 16 kHz, mono, 16 bits. */
export function silentWav(seconds: number): Buffer {
  const bytes = Math.round(seconds * 16_000) * 2
  const wav = Buffer.alloc(44 + bytes)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(36 + bytes, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(16_000, 24)
  wav.writeUInt32LE(32_000, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(bytes, 40)
  return wav
}

/** The same recording with silence before and after it; for 16 kHz, mono, 16 bits. */
export function padWav(wav: Buffer, seconds: number): Buffer {
  const silence = silentWav(seconds).subarray(44)
  const sound = wav.subarray(wav.indexOf('data') + 8)
  const padded = Buffer.concat([silentWav(0), silence, sound, silence])
  padded.writeUInt32LE(padded.length - 8, 4)
  padded.writeUInt32LE(padded.length - 44, 40)
  return padded
}
