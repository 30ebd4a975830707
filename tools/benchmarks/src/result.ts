import type { Ranking } from './method/figures.ts'

/** A table with a header row; the first column names the row. */
export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly notes?: readonly string[]
}

/** Bars of one figure; ours are highlighted. */
export interface Chart {
  readonly name: string
  readonly title: string
  readonly bars: readonly Bar[]
}

export interface Bar {
  readonly label: string
  readonly value: number
  /** The figure with its unit. */
  readonly text: string
}

/** A column of the table of all peers. */
export interface OverviewColumn {
  readonly title: string
  /** By name of the peer; absent for those that cannot take part. */
  readonly cells: Readonly<Record<string, string>>
  /** Why peers are absent. */
  readonly absent?: string
}

/** One figure in which a peer may be better than ours. */
export interface Comparison extends Ranking {
  readonly what: string
  readonly entries: readonly { readonly name: string; readonly value: number }[]
  /** Why a peer may be better. */
  readonly because: string
}

/** The result of a scenario: everything the page shows about it. */
export interface Result {
  readonly title: string
  readonly note: string
  readonly tables: readonly Table[]
  readonly charts: readonly Chart[]
  readonly overview: readonly OverviewColumn[]
  readonly comparisons: readonly Comparison[]
}
