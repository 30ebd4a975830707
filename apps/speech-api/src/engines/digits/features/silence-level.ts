import type { Cepstrum } from './cepstrum.ts'

const SILENCE = -28 // dB below the level of the speech, in a quiet recording
const ABOVE_NOISE = 3
const LOUDEST_SILENCE = -8

/** The energy below which a frame counts as silence. It rises with the noise of the recording. */
export function silenceLevel({ energy, length }: Cepstrum): number {
  const noise = energy.toSorted()[Math.floor(length / 10)] as number
  return Math.min(LOUDEST_SILENCE, Math.max(SILENCE, noise + ABOVE_NOISE))
}
