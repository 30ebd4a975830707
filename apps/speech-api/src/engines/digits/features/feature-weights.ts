import { alignFrames } from './align-frames.ts'
import { COEFFICIENTS } from './cepstrum.ts'
import { DIMENSIONS } from './feature-frames.ts'

export interface SpokenWord {
  readonly digit: number
  readonly voice: string
  readonly frames: Float32Array
}

const SLOPE_WEIGHT = 0.7
const LOUDNESS_WEIGHT = 1.2
const SHARE_OF_TOTAL = 0.15

/**
 * Weights each dimension by how well it distinguishes words rather than voices: a dimension that differs between two
 * voices saying the same word has a small weight. Distances are sums of squared weighted differences.
 */
export function featureWeights(words: readonly SpokenWord[]): Float32Array {
  const total = variance(words)
  const inverse = total.map((value) => 1 / value)
  const between = new Float64Array(DIMENSIONS)
  let pairs = 0
  for (const one of words) {
    for (const other of words) {
      if (one.digit !== other.digit || one.voice <= other.voice) continue
      for (const [oneFrame, otherFrame] of alignFrames(one.frames, other.frames, inverse)) {
        pairs++
        for (let index = 0; index < DIMENSIONS; index++) {
          const difference =
            (one.frames[oneFrame * DIMENSIONS + index] as number) -
            (other.frames[otherFrame * DIMENSIONS + index] as number)
          between[index] = (between[index] as number) + (difference * difference) / 2
        }
      }
    }
  }
  return total.map((value, index) => {
    const spread = (between[index] as number) / Math.max(1, pairs) + SHARE_OF_TOTAL * value
    const slope = index >= COEFFICIENTS ? SLOPE_WEIGHT : 1
    const loudness = index % COEFFICIENTS === 0 ? LOUDNESS_WEIGHT : 1
    return (slope * loudness) / Math.sqrt(spread * COEFFICIENTS)
  })
}

function variance(words: readonly SpokenWord[]): Float32Array {
  const sum = new Float64Array(DIMENSIONS)
  const squares = new Float64Array(DIMENSIONS)
  let count = 0
  for (const { frames } of words) {
    count += frames.length / DIMENSIONS
    frames.forEach((value, position) => {
      const index = position % DIMENSIONS
      sum[index] = (sum[index] as number) + value
      squares[index] = (squares[index] as number) + value * value
    })
  }
  return Float32Array.from(squares, (square, index) => square / count - ((sum[index] as number) / count) ** 2)
}
