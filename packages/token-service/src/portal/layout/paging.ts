import type { RawParameters } from '../../oauth/parameters.ts'

const pageSize = 50
const maxPage = 1_000_000

/** What a list shows: its part, and the search, as the URL says. */
export interface Paging {
  readonly search: string
  readonly page: number
  readonly limit: number
  readonly offset: number
}

export function pagingOf({ q, page }: RawParameters): Paging {
  const search = typeof q === 'string' ? q.trim().slice(0, 200) : ''
  const number = typeof page === 'string' && /^\d{1,7}$/.test(page) ? Number(page) : 1
  const current = Math.min(Math.max(number, 1), maxPage)
  return { search, page: current, limit: pageSize, offset: (current - 1) * pageSize }
}

/** The part of a list that is in memory already. */
export function partOf<Item>(items: readonly Item[], { limit, offset }: Paging): Item[] {
  return items.slice(offset, offset + limit)
}

/** A path with those members of a query that are not empty. */
export function linkTo(path: string, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  return parameters.size === 0 ? path : `${path}?${parameters}`
}

/** With separators, such as `10,000`. */
export function formatCount(number: number): string {
  return number.toLocaleString('en')
}

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** Where there is little space: from a million on, such as `1.3M`. */
export function formatShortCount(number: number): string {
  return number < 1_000_000 ? formatCount(number) : short.format(number)
}
