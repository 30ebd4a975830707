import { DIMENSIONS, COEFFICIENTS } from './feature-frames.ts'

/** Pairs the frames of two recordings of the same word by dynamic time warping. */
function alignFrames(
  one: Float32Array,
  other: Float32Array,
  weights: Float32Array,
): [oneFrame: number, otherFrame: number][] {
  const rows = one.length / DIMENSIONS
  const columns = other.length / DIMENSIONS
  const costs = new Float64Array(rows * columns)
  const cost = (row: number, column: number) =>
    row < 0 || column < 0 ? Infinity : (costs[row * columns + column] as number)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const before =
        row + column === 0
          ? 0
          : Math.min(cost(row - 1, column - 1), cost(row - 1, column), cost(row, column - 1))
      let distance = 0
      for (let index = 0; index < weights.length; index++) {
        const difference =
          (one[row * DIMENSIONS + index] as number) - (other[column * DIMENSIONS + index] as number)
        distance += (weights[index] as number) * difference * difference
      }
      costs[row * columns + column] = before + distance
    }
  }
  const pairs: [number, number][] = []
  for (let row = rows - 1, column = columns - 1; row >= 0 && column >= 0;) {
    pairs.push([row, column])
    const diagonal = cost(row - 1, column - 1)
    const up = cost(row - 1, column)
    const left = cost(row, column - 1)
    const best = Math.min(diagonal, up, left)
    if (best === diagonal || best === up) row--
    if (best === diagonal || best === left) column--
  }
  return pairs
}

export interface SpokenWord {
  readonly digit: number
  readonly voice: number
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
