import { SAMPLE_RATE } from './cepstrum.ts'

/** `narrow` is what a telephone carries: nothing over 4 kHz. */
export type Bandwidth = 'wide' | 'narrow'

const NARROW_RATE = 8_000

export function bandwidthOf(sampleRate: number): Bandwidth {
  return sampleRate < SAMPLE_RATE ? 'narrow' : 'wide'
}

/** The rates to take a recording through so that it has just this bandwidth. */
export function ratesFor(bandwidth: Bandwidth): number[] {
  return bandwidth === 'narrow' ? [NARROW_RATE, SAMPLE_RATE] : [SAMPLE_RATE]
}
