/** At most three significant figures and a readable unit. */
export function nanoseconds(ns: number): string {
  if (ns < 1_000) return `${ns.toFixed(0)} ns`
  if (ns < 1_000_000) return `${significant(ns / 1_000)} µs`
  return `${significant(ns / 1_000_000)} ms`
}

export function milliseconds(ms: number): string {
  return ms < 1_000 ? `${significant(ms)} ms` : `${significant(ms / 1_000)} s`
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count.toFixed(0)} B`
  if (count < 2 ** 20) return `${significant(count / 1_024)} KiB`
  return count < 2 ** 30 ? `${significant(count / 2 ** 20)} MiB` : `${significant(count / 2 ** 30)} GiB`
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function ratio(value: number): string {
  return `${significant(value)} ×`
}

function significant(value: number): string {
  if (value >= 100) return count(value)
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

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

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** The nearest rank. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN
}
