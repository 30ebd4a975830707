import { html, type SafeHtml } from '@remix-run/html-template'
import type { RawParameters } from '../../oauth/parameters.ts'
import { foldName } from '../../storage/folded-name.ts'
import { formatCount, linkTo, pagingOf, type Paging } from './paging.ts'

/** What a column holds, which decides how wide it is and where its values stand. `name` and `text` share the rest. */
export type ColumnKind =
  | 'name'
  | 'text'
  | 'status'
  | 'id'
  | 'number'
  | 'usage'
  | 'time'
  | 'date'
  | 'decision'
  | 'end'
  | 'role'
  | 'select'
  | 'menu'

export interface Column<Row> {
  readonly label: string | SafeHtml
  readonly kind: ColumnKind
  /** Where there is no space, 3 leaves first, and 1 last. One without it stays. */
  readonly leaves?: 1 | 2 | 3 | undefined
  /** The order that its header is a link to, such as `name`, or `-used` for the latest first. */
  readonly order?: string | undefined
  readonly cell: (row: Row) => SafeHtml | string
}

/** Which part of a list is shown, as the URL says. */
export interface ListState<Order extends string = string, Show extends string = string> extends Paging {
  /** One of the orders that the list offers. */
  readonly order: Order
  /** Those that the list offers; the first is that of a URL without one. */
  readonly orders: readonly [Order, ...Order[]]
  /** One of its facets; empty: all. */
  readonly facet: Show | ''
}

/** What the URL of a list can say; the first order is that of a URL that says nothing. */
export interface ListChoices<Order extends string, Show extends string> {
  readonly orders: readonly [Order, ...Order[]]
  readonly facets?: readonly Show[] | undefined
}

export function listState<const Order extends string, const Show extends string = never>(
  query: RawParameters,
  { orders, facets = [] }: ListChoices<Order, Show>,
): ListState<Order, Show> {
  const { show = '', order } = query
  return {
    ...pagingOf(query),
    order: orders.find((each) => each === order) ?? orders[0],
    orders,
    facet: facets.find((each) => each === show) ?? '',
  }
}

/** Those of the items, which are all in memory, of which a text contains each word of the search. */
export function searchNames<Item>(
  items: readonly Item[],
  search: string,
  textsOf: (item: Item) => readonly string[],
): Item[] {
  const words = foldName(search).split(/\s+/).filter(Boolean)
  return items.filter((item) => {
    const texts = textsOf(item).map(foldName)
    return words.every((word) => texts.some((text) => text.includes(word)))
  })
}

export interface Facet {
  /** In the URL; empty: all. */
  readonly id: string
  readonly label: string
  readonly count: number
}

/** A list that is searched, narrowed down, ordered and paged by links and one form. */
export interface Browsing {
  readonly path: string
  readonly state: ListState
  /** How many rows there are in all pages. */
  readonly total: number
  /** What is counted, in the plural. */
  readonly noun: string
  /** What is searched; without it, there is no search. */
  readonly search?: string | undefined
  /** The orders to choose from where no header is shown. */
  readonly orders?: readonly (readonly [order: string, label: string])[] | undefined
  readonly facets?: readonly Facet[] | undefined
  /** Further members of the URL's query. */
  readonly query?: Readonly<Record<string, string>> | undefined
}

export interface ListOptions {
  /** What the list contains, for screen readers. */
  readonly label: string
  readonly browsing?: Browsing | undefined
  /** What is done with the selected rows. By keyboard, it is one step back from the checkbox that selects all. */
  readonly actions?: SafeHtml | undefined
  /** What stands in the place of a list that has no row, unless it was narrowed down. */
  readonly empty?: SafeHtml | undefined
}

/**
 * A list: one row for each thing, all equally high, in columns that leave one after the other where there is no space.
 * Only names are cut. It works without a script.
 */
export function list<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { label, browsing, actions, empty }: ListOptions,
): SafeHtml {
  const isNarrowed = browsing !== undefined && (browsing.state.search !== '' || browsing.state.facet !== '')
  if (rows.length === 0 && empty !== undefined && !isNarrowed && (browsing?.state.page ?? 1) === 1)
    return empty
  const found =
    rows.length > 0
      ? table(columns, rows, label, browsing)
      : html`<p class="empty">
          Nothing matches.${browsing && html` <a href="${browsing.path}">Show all ${browsing.noun}</a>`}
        </p>`
  return html`${browsing === undefined ? '' : html`${facets(browsing)} ${find(browsing)}`}
  ${actions === undefined || rows.length === 0 ? found : html`<div class="selectable">${actions}${found}</div>`}
  ${browsing === undefined ? '' : pager(browsing)}`
}

function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  label: string,
  browsing: Browsing | undefined,
): SafeHtml {
  const classOf = ({ kind, leaves }: Column<Row>) =>
    leaves === undefined ? kind : `${kind} leaves-${leaves}`
  return html`<div class="list">
    <table>
      <caption class="visually-hidden">
        ${label}
      </caption>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col" class="${classOf(column)}" ${sorting(column, browsing)}>${header(column, browsing)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${columns.map((column) => html`<td class="${classOf(column)}">${column.cell(row)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

const isDescending = (order: string) => order.startsWith('-')
const reversed = (order: string) => (isDescending(order) ? order.slice(1) : `-${order}`)

function isOrder(column: string | undefined, current: string): boolean {
  return column !== undefined && (current === column || current === reversed(column))
}

function sorting<Row>({ order }: Column<Row>, browsing: Browsing | undefined): SafeHtml | '' {
  const current = browsing?.state.order ?? ''
  if (!isOrder(order, current)) return ''
  return html`aria-sort="${isDescending(current) ? 'descending' : 'ascending'}"`
}

/** Its link reverses the order that the list has already. */
function header<Row>({ kind, label, order }: Column<Row>, browsing: Browsing | undefined): SafeHtml | string {
  if (kind === 'menu' || kind === 'decision' || kind === 'end')
    return html`<span class="visually-hidden">${label}</span>`
  if (order === undefined || browsing === undefined) return label
  const next = browsing.state.order === order ? reversed(order) : order
  if (!browsing.state.orders.includes(next)) return label
  return html`<a href="${urlOf(browsing, { order: next })}">${label}</a>`
}

/** The URL of the list, with other members of its query. */
function urlOf(
  { path, query, state }: Pick<Browsing, 'path' | 'query' | 'state'>,
  changes: Readonly<Record<string, string>>,
): string {
  const { search: q, facet: show, order, orders } = state
  const all = { ...query, q, show, order, ...changes }
  return linkTo(path, { ...all, order: all.order === orders[0] ? '' : all.order })
}

function facets(browsing: Browsing): SafeHtml | '' {
  const { facets: all = [], state } = browsing
  // One alone narrows nothing down.
  if (all.length === 0 || (all.length === 1 && state.facet === '')) return ''
  return html`<nav class="facets" aria-label="Show ${browsing.noun}">
    <ul>
      ${all.map(
        ({ id, label, count }) =>
          html`<li>
            <a href="${urlOf(browsing, { show: id })}" ${id === state.facet ? html`aria-current="true"` : ''}
              >${label} <b>${formatCount(count)}</b></a
            >
          </li>`,
      )}
    </ul>
  </nav>`
}

function find({ path, query = {}, state, search, orders = [], noun }: Browsing): SafeHtml | '' {
  if (search === undefined) return ''
  const kept = Object.entries({ ...query, show: state.facet }).filter(([, value]) => value !== '')
  return html`<form method="get" action="${path}" class="find" role="search" aria-label="Search ${noun}">
    <span data-key
      ><input
        type="search"
        name="q"
        value="${state.search}"
        placeholder="${search}"
        aria-label="${search}"
        autocomplete="off"
    /></span>
    ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button class="outline">Search</button>
    ${
      orders.length === 0
        ? ''
        : html`<label
            >Sort by
            <select name="order">
              ${orders.map(([order, label]) => html`<option value="${order}" ${isOrder(order, state.order) ? html`selected` : ''}>${label}</option>`)}
            </select></label
          >`
    }
  </form>`
}

/** Which rows are shown of how many, and links to other pages: the first, the last, and those beside this one. */
function pager(browsing: Browsing): SafeHtml | '' {
  const { state, total, noun } = browsing
  const { page, limit, offset } = state
  if (total === 0) return ''
  const count = Math.max(1, Math.ceil(total / limit))
  const last = Math.min(offset + limit, total)
  const isWhole = count === 1 && page === 1
  if (isWhole && total === 1) return ''
  const part =
    offset >= total
      ? `Nothing of ${formatCount(total)}`
      : `${formatCount(offset + 1)}–${formatCount(last)} of ${formatCount(total)}`
  const link = (to: number, label: string | SafeHtml = formatCount(to)) =>
    html`<li>
      <a
        href="${urlOf(browsing, to === 1 ? {} : { page: String(to) })}"
        ${to === page ? html`aria-current="page"` : ''}
        >${label}</a
      >
    </li>`
  const numbers = pageNumbers(page, count)
  const parts = numbers.map((each, index) => {
    const gap = index > 0 && each - (numbers[index - 1] ?? 0) > 1
    return html`${gap ? html`<li><span>…</span></li>` : ''}${link(each)}`
  })
  return html`<nav class="pager" aria-label="Pages of ${noun}">
    <p>${isWhole ? formatCount(total) : part} ${noun}</p>
    ${
      isWhole
        ? ''
        : html`<ul>
            ${parts}${page < count ? link(page + 1, 'Next') : ''}
          </ul>`
    }
  </nav>`
}

function pageNumbers(page: number, count: number): number[] {
  const wanted = [1, page - 1, page, page + 1, count]
  return [...new Set(wanted)].filter((each) => each >= 1 && each <= count).toSorted((a, b) => a - b)
}

export interface NamedCell {
  readonly name: string
  readonly href?: string | undefined
  /** A second line, which is cut as well. */
  readonly below?: SafeHtml | string | undefined
  readonly belowHref?: string | undefined
}

/** A name in any script, cut where the column ends, and what stands below it. */
export function named({ name, href, below, belowHref }: NamedCell): SafeHtml {
  const title = name.length > 24 ? html`title="${name}"` : ''
  const first =
    href === undefined
      ? html`<strong class="cut" dir="auto" ${title}>${name}</strong>`
      : html`<a class="cut" dir="auto" href="${href}" ${title}>${name}</a>`
  if (below === undefined || below === '') return first
  return html`${first}${
    belowHref === undefined
      ? html`<span class="cut below" dir="auto">${below}</span>`
      : html`<a class="cut below" dir="auto" href="${belowHref}">${below}</a>`
  }`
}

/**
 * Names in one line, each cut if need be: the first ones, and how many more there are. `read`: in up to two lines, for those
 * who decide on them.
 */
export function names(all: readonly string[], shown = 2, style: 'read' | '' = ''): SafeHtml {
  const more = all.length - shown
  return html`<span class="names ${style}" title="${all.join(', ')}"
    >${all.slice(0, shown).map((each) => html`<bdi>${each}</bdi>`)}${more > 0 ? html`<span>and ${formatCount(more)} more</span>` : ''}</span
  >`
}

/** A second line below a status: what somebody has to do. */
export function note(text: string | SafeHtml): SafeHtml {
  return html`<span class="cut below" dir="auto" data-variant="warning">${text}</span>`
}

/** A state as a word with its icon. */
export function state(variant: 'success' | 'warning' | 'danger' | '', label: string | SafeHtml): SafeHtml {
  return html`<span class="state" data-variant="${variant}">${label}</span>`
}
