import type { Ranking } from './method/contest.ts'

/** A table: the first row and the first column say what the figures are. */
export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly notes?: readonly string[]
}

/** Bars of one figure; ours stand out. */
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
  /** By name of the peer; one that is not there cannot take part. */
  readonly cells: Readonly<Record<string, string>>
  /** Why those that are not there are not. */
  readonly absent?: string
}

/** One figure by which peers and ours can be told apart. */
export interface Contest extends Ranking {
  readonly what: string
  readonly entries: readonly { readonly name: string; readonly value: number }[]
  /** Why a peer may be ahead of ours. */
  readonly because: string
}

/** What a work found: everything that the page shows of it. */
export interface Result {
  readonly title: string
  readonly note: string
  readonly tables: readonly Table[]
  readonly charts: readonly Chart[]
  readonly overview: readonly OverviewColumn[]
  readonly contests: readonly Contest[]
}
