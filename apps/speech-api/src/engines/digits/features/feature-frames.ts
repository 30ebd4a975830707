import meyda from 'meyda'

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

const SILENCE = -28 // dB below the level of the speech, in a quiet recording
const ABOVE_NOISE = 3
const LOUDEST_SILENCE = -8

/** The energy below which a frame counts as silence. It rises with the noise of the recording. */
export function silenceLevel({ energy, length }: Cepstrum): number {
  const noise = energy.toSorted()[Math.floor(length / 10)] as number
  return Math.min(LOUDEST_SILENCE, Math.max(SILENCE, noise + ABOVE_NOISE))
}

// The package is CommonJS and exports the object itself; its types say that it has a default export.
const Meyda = meyda as unknown as typeof meyda.default

export const SAMPLE_RATE = 16_000
/** Samples from one frame to the next: 10 ms. */
export const HOP = 160
export const COEFFICIENTS = 13

const WINDOW = 512
const MEL_BANDS = 24
const PRE_EMPHASIS = 0.7
// The library takes the logarithm of 1 + energy, so the level that speech is scaled to decides how far below it faint
// sounds, hiss and rounding noise disappear: about 50 dB at this level.
const SPEECH_LEVEL = 1
const QUIETEST = -90

export interface Cepstrum {
  readonly length: number
  /** Mel-frequency cepstral coefficients, `COEFFICIENTS` for each frame. */
  readonly coefficients: Float32Array
  /** The energy of each frame in dB relative to the level of the speech. */
  readonly energy: Float32Array
}

/** Computes the cepstrum of every 10 ms of a recording, independent of its volume. */
export function cepstrumOf(samples: Float32Array): Cepstrum {
  const length = Math.floor(samples.length / HOP) + 1
  const padded = new Float32Array(samples.length + 2 * WINDOW)
  padded.set(samples, WINDOW / 2)
  const power = Float32Array.from({ length }, (_, frame) => meanSquare(padded, frame * HOP))
  const level = speechLevel(power)
  const energy = power.map((value) => Math.max(QUIETEST, 10 * Math.log10(value / level)))

  Object.assign(Meyda, {
    sampleRate: SAMPLE_RATE,
    bufferSize: WINDOW,
    melBands: MEL_BANDS,
    numberOfMFCCCoefficients: COEFFICIENTS,
    windowingFunction: 'hamming',
  })
  const coefficients = new Float32Array(length * COEFFICIENTS)
  const gain = SPEECH_LEVEL / Math.sqrt(level)
  const window = new Float32Array(WINDOW)
  for (let frame = 0; frame < length; frame++) {
    const start = frame * HOP
    for (let index = 0; index < WINDOW; index++) {
      const before = start + index > 0 ? (padded[start + index - 1] as number) : 0
      window[index] = gain * ((padded[start + index] as number) - PRE_EMPHASIS * before)
    }
    coefficients.set(Meyda.extract('mfcc', window) as unknown as number[], frame * COEFFICIENTS)
  }
  return { length, coefficients, energy }
}

/** The mean power of the frames that are at most 20 dB below the loudest. */
function speechLevel(power: Float32Array): number {
  const loudest = power.reduce((most, value) => Math.max(most, value), 1e-12)
  const loud = power.filter((value) => value > loudest / 100)
  return loud.length === 0 ? loudest : loud.reduce((sum, value) => sum + value, 0) / loud.length
}

function meanSquare(samples: Float32Array, start: number): number {
  let sum = 0
  for (let index = start; index < start + WINDOW; index++) sum += (samples[index] as number) ** 2
  return sum / WINDOW
}

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
