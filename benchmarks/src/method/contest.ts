/** One figure of each that takes part. */
export interface Entry {
  readonly name: string
  readonly value: number
}

// Closer than this is a draw: the next run may turn it round.
const draw = 0.1

/** In the order of their figures; what is too close to call stands in the order it came in. */
export function ranked<Each extends Entry>(
  entries: readonly Each[],
  best: 'least' | 'most' = 'least',
): Each[] {
  const sign = best === 'least' ? 1 : -1
  const sorted = entries.toSorted((a, b) => sign * (a.value - b.value))
  const result: Each[] = []
  while (sorted.length > 0) {
    const first = sorted[0]!.value
    const level = sorted.filter(({ value }) => Math.abs(value - first) <= Math.abs(first) * draw)
    result.push(...level.toSorted((a, b) => entries.indexOf(a) - entries.indexOf(b)))
    sorted.splice(0, level.length)
  }
  return result
}
