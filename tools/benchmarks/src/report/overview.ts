import type { OverviewColumn, Table } from '../result.ts'

/** The table of every peer in every scenario that it can take part in. */
export function overview(columns: readonly OverviewColumn[]): Table {
  const names = new Set(columns.flatMap(({ cells }) => Object.keys(cells)))
  const ours = [...names].filter((name) => name.startsWith('@tokenwell/'))
  const others = [...names].filter((name) => !name.startsWith('@tokenwell/'))
  return {
    title: 'Overview',
    columns: ['peer', ...columns.map(({ title }) => title)],
    rows: [...ours, ...others].map((name) => [name, ...columns.map(({ cells }) => cells[name] ?? '–')]),
    notes: columns.flatMap(({ title, absent }) => (absent ? [`– under “${title}”: ${absent}.`] : [])),
  }
}
