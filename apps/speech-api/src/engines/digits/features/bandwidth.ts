import { SAMPLE_RATE } from './cepstrum.ts'

/** `narrow` is telephone bandwidth: nothing above 4 kHz. */
export type Bandwidth = 'wide' | 'narrow'

const NARROW_RATE = 8_000

export function bandwidthOf(sampleRate: number): Bandwidth {
  return sampleRate < SAMPLE_RATE ? 'narrow' : 'wide'
}

/** The sample rates to convert a recording to, one after another, so that it has this bandwidth. */
export function ratesFor(bandwidth: Bandwidth): number[] {
  return bandwidth === 'narrow' ? [NARROW_RATE, SAMPLE_RATE] : [SAMPLE_RATE]
}
