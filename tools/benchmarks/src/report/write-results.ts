import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { installedVersion } from '../method/installed.ts'
import type { Result } from '../result.ts'
import { barChart, lineChart } from './charts.ts'
import { formatTable, peersAhead, overview } from './tables.ts'

const root = new URL('../../', import.meta.url)

/** A result, and the machine on which it was measured. */
export type Measured = Result & { readonly machine: string }

/** Writes the page of all results, and their charts. */
export function writeResults(all: readonly Measured[]): void {
  mkdirSync(new URL('charts/', root), { recursive: true })
  for (const chart of all.flatMap(({ charts }) => charts)) {
    writeFileSync(new URL(`charts/${chart.name}.svg`, root), barChart(chart))
  }
  for (const chart of all.flatMap(({ lineCharts = [] }) => lineCharts)) {
    writeFileSync(new URL(`charts/${chart.name}.svg`, root), lineChart(chart))
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
export function section({ title, note, machine, tables, charts, lineCharts = [] }: Measured): string {
  const images = [...charts, ...lineCharts].flatMap((chart) => [
    `![${chart.title}](charts/${chart.name}.svg)`,
    '',
  ])
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
