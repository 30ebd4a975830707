import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { installedVersion } from '../method/installed.ts'
import type { Result } from '../result.ts'
import { barChart } from './bar-chart.ts'
import { formatTable } from './format-table.ts'
import { describeMachine } from './machine.ts'
import { peersAhead } from './peers-ahead.ts'
import { overview } from './overview.ts'

const root = new URL('../../', import.meta.url)

type Kept = Result & { readonly machine: string }

/** Keeps what a work found, and writes the page of all that was found so far; returns the work's own part. */
export function writeResults(order: readonly string[], name: string, result: Result): string {
  mkdirSync(new URL('results/', root), { recursive: true })
  mkdirSync(new URL('charts/', root), { recursive: true })
  const kept: Kept = { ...result, machine: describeMachine() }
  writeFileSync(fileOf(name), `${JSON.stringify(kept, undefined, 2)}\n`)
  for (const chart of result.charts) {
    writeFileSync(new URL(`charts/${chart.name}.svg`, root), barChart(chart))
  }
  const all = order
    .filter((each) => existsSync(fileOf(each)))
    .map((each) => JSON.parse(readFileSync(fileOf(each), 'utf8')) as Kept)
  const head = [
    '# Results',
    '',
    'Ratios within one run carry over to other machines; times do not. [README.md](README.md) says what was measured, and how.',
    '',
    formatTable(overview(all.flatMap((each) => each.overview))),
    ...peersAhead(all.flatMap((each) => each.contests)),
  ]
  const page = [...head, ...all.map(section), versions()].join('\n')
  writeFileSync(new URL('RESULTS.md', root), page)
  return section(kept)
}

function fileOf(name: string): URL {
  return new URL(`results/${name}.json`, root)
}

function section({ title, note, machine, tables, charts }: Kept): string {
  const images = charts.flatMap((chart) => [`![${chart.title}](charts/${chart.name}.svg)`, ''])
  return [`## ${title}`, '', note, '', `${machine}.`, '', ...tables.map(formatTable), ...images].join('\n')
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
