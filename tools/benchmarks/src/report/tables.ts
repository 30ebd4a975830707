import type { Comparison, OverviewColumn, Table } from '../result.ts'
import { ratio, ranked } from '../method/figures.ts'

/** Markdown with padded columns, readable in a terminal too. */
export function formatTable({ title, columns, rows, notes = [] }: Table, heading = '###'): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  const remarks = notes.map((note) => `- ${note}`)
  return [
    `${heading} ${title}`,
    '',
    line(columns),
    rule,
    ...rows.map(line),
    '',
    ...remarks,
    ...(remarks.length ? [''] : []),
  ].join('\n')
}

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

/** Where a peer is better than ours, by how much, and why. */
export function peersAhead(comparisons: readonly Comparison[]): string[] {
  const lines = comparisons.flatMap(({ what, entries, because, ...ranking }) => {
    const order = ranked(entries, ranking)
    const place = order.findIndex(({ name }) => name.startsWith('@tokenwell/'))
    const ours = order[place]
    if (ours === undefined || place === 0) return []
    const ahead = order.slice(0, place).map(({ name, value }) => `${name} (${ratio(value / ours.value)})`)
    return [`- **${what}**: ${ahead.join(', ')}. ${because}.`]
  })
  return [
    '## Where a peer is better',
    '',
    'Each figure is that of the peer, relative to ours.',
    '',
    ...lines,
    '',
  ]
}
