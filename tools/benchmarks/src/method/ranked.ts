/** The figure of one participant. */
export interface Entry {
  readonly name: string
  readonly value: number
}

export interface Ranking {
  /** @default 'least' */
  readonly best?: 'least' | 'most'
  /**
   * Figures that differ by less than this share count as equal (the first and the last of several equal ones may differ by
   * twice as much): the next run may swap them.
   * @default 0.1
   */
  readonly draw?: number
}

/** In the order of their figures; equal ones keep the order of the list. */
export function ranked<Each extends Entry>(
  entries: readonly Each[],
  { best = 'least', draw = 0.1 }: Ranking = {},
): Each[] {
  const sign = best === 'least' ? 1 : -1
  const places: Each[][] = []
  for (const entry of entries.toSorted((a, b) => sign * (a.value - b.value))) {
    const place = places.at(-1)
    const near = (other: Entry, share: number): boolean =>
      Math.abs(entry.value - other.value) <= Math.abs(other.value) * share
    if (place && near(place.at(-1)!, draw) && near(place[0]!, 2 * draw)) place.push(entry)
    else places.push([entry])
  }
  return places.flatMap((place) => place.toSorted((a, b) => entries.indexOf(a) - entries.indexOf(b)))
}
