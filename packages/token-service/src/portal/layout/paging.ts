import { html, type SafeHtml } from '@remix-run/html-template'
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

export interface PagesOptions {
  readonly path: string
  /** The other parts of the query. */
  readonly query: Readonly<Record<string, string>>
  readonly paging: Paging
  readonly total: number
  /** What is counted, in the plural. */
  readonly noun: string
}

/** Below a list: which part it shows, and links to the parts beside it. */
export function pages({ path, query, paging, total, noun }: PagesOptions): SafeHtml | '' {
  const { page, limit, offset } = paging
  if (total <= limit && page === 1) return ''
  const link = (to: number, label: string) =>
    html`<a class="button outline small" href="${linkTo(path, { ...query, page: String(to) })}">${label}</a>`
  const last = Math.min(offset + limit, total)
  const shown = offset < total ? `${formatCount(offset + 1)}–${formatCount(last)} of` : 'Nothing of'
  return html`<nav class="pages" aria-label="Pages">
    <p>${shown} ${formatCount(total)} ${noun}</p>
    ${page > 1 ? link(page - 1, 'Previous') : ''} ${last < total ? link(page + 1, 'Next') : ''}
  </nav>`
}

/** A path with those members of a query that are not empty. */
export function linkTo(path: string, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  return parameters.size === 0 ? path : `${path}?${parameters}`
}

export function searchField(search: string, label: string): SafeHtml {
  return html`<div data-field class="wide">
    <label for="q">${label}</label>
    <input id="q" name="q" type="search" value="${search}" placeholder="${label}" autocomplete="off" />
  </div>`
}

/** With separators, such as `10,000`. */
export function formatCount(number: number): string {
  return number.toLocaleString('en')
}
