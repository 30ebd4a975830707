import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { ratio, ranked } from '../method/figures.ts'
import { installedVersion } from '../method/installed.ts'
import type { Comparison, OverviewColumn, Table, Result } from '../result.ts'
import { barChart } from './charts.ts'

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

const root = new URL('../../', import.meta.url)

/** A result, and the machine on which it was measured. */
export type Measured = Result & { readonly machine: string }

/** Writes the page of all results, and their charts. */
export function writeResults(all: readonly Measured[]): void {
  mkdirSync(new URL('charts/', root), { recursive: true })
  for (const chart of all.flatMap(({ charts }) => charts)) {
    writeFileSync(new URL(`charts/${chart.name}.svg`, root), barChart(chart))
  }
  const head = [
    '# Results',
    '',
    'Ratios within one run hold on other machines; absolute times do not. Each section names the machine, and the load average before',
    'the run where it was recorded: the closer to 0, the quieter. [README.md](README.md) explains the method.',
    '',
    formatTable(overview(all.flatMap((each) => each.overview)), '##'),
    ...peersAhead(all.flatMap((each) => each.comparisons)),
  ]
  const page = [...head, ...all.map(section), versions()].join('\n')
  writeFileSync(new URL('RESULTS.md', root), page)
}

/** The part of the page about one scenario. */
export function section({ title, note, machine, tables, charts }: Measured): string {
  const images = charts.flatMap((chart) => [`![${chart.title}](charts/${chart.name}.svg)`, ''])
  return [
    `## ${title}`,
    '',
    note,
    '',
    `${machine}.`,
    '',
    ...tables.map((table) => formatTable(table)),
    ...images,
  ].join('\n')
}

function versions(): string {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const lines = Object.keys(dependencies)
    .filter((name) => !name.startsWith('@tokenwell/'))
    .map((name) => `- ${name} ${installedVersion(name)}`)
  return ['## Versions', '', ...lines, ''].join('\n')
}
