/** One figure of each that takes part. */
export interface Entry {
  readonly name: string
  readonly value: number
}

/**
 * In the order of their figures; what is too close to call stands in the order it came in.
 *
 * @param draw the share by which they may differ and still be one place: the next run may turn it round
 */
export function ranked<Each extends Entry>(
  entries: readonly Each[],
  best: 'least' | 'most' = 'least',
  draw = 0.1,
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
