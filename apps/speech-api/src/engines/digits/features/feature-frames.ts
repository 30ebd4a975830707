import { COEFFICIENTS, type Cepstrum } from './cepstrum.ts'

/** Values per frame: the coefficients and the slope of each. */
export const DIMENSIONS = 2 * COEFFICIENTS

const SLOPE_REACH = 2
const PRIOR_FRAMES = 50

/**
 * The mean of each coefficient over the frames that are not silent. One word is too short to estimate it, so `prior`
 * counts as much as half a second of speech.
 */
export function cepstralMean(
  cepstra: readonly Cepstrum[],
  silenceBelow: number,
  prior?: Float32Array,
): Float32Array {
  let count = prior ? PRIOR_FRAMES : 0
  const mean = new Float32Array(COEFFICIENTS).map((_, index) => (prior?.[index] ?? 0) * count)
  for (const { length, coefficients, energy } of cepstra) {
    for (let frame = 0; frame < length; frame++) {
      if ((energy[frame] as number) < silenceBelow) continue
      count++
      for (let index = 0; index < COEFFICIENTS; index++) {
        mean[index] = (mean[index] as number) + (coefficients[frame * COEFFICIENTS + index] as number)
      }
    }
  }
  return mean.map((sum) => sum / Math.max(1, count))
}

/** Subtracts the mean, which removes constant effects of voice, microphone and room, and appends the slopes. */
export function featureFrames({ length, coefficients }: Cepstrum, mean: Float32Array): Float32Array {
  const frames = new Float32Array(length * DIMENSIONS)
  const at = (frame: number, index: number) =>
    coefficients[Math.min(length - 1, Math.max(0, frame)) * COEFFICIENTS + index] as number
  for (let frame = 0; frame < length; frame++) {
    for (let index = 0; index < COEFFICIENTS; index++) {
      let slope = 0
      let weight = 0
      for (let reach = 1; reach <= SLOPE_REACH; reach++) {
        slope += reach * (at(frame + reach, index) - at(frame - reach, index))
        weight += 2 * reach * reach
      }
      frames[frame * DIMENSIONS + index] = at(frame, index) - (mean[index] as number)
      frames[frame * DIMENSIONS + COEFFICIENTS + index] = slope / weight
    }
  }
  return frames
}
