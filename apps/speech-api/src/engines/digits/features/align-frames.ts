import { DIMENSIONS } from './feature-frames.ts'

/** Pairs the frames of two recordings of the same word by dynamic time warping. */
export function alignFrames(
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
