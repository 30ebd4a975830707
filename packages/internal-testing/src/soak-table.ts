import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'

/** The conditions of a measurement, load of other programs included; nothing identifies the machine. */
export function describeMachine(): string {
  const processors = cpus()
  const date = new Date().toISOString().slice(0, 10)
  const [load = 0] = loadavg()
  const processor = processors[0]?.model.trim() ?? 'unknown processor'
  return `${date}, ${processors.length} × ${processor}, Node ${process.versions.node}, load average ${load.toFixed(2)} at the start`
}

/** What a soak did. */
export interface SoakRow {
  readonly calls?: number | undefined
  readonly failures?: number | undefined
  /** The longest that one call took, in milliseconds. */
  readonly worstMs?: number | undefined
  readonly tokenRequests?: number | undefined
  /** Anything else that was measured. */
  readonly figures?: string | undefined
}

export type SoakTable = ReturnType<typeof createSoakTable>

const columns = ['what', 'seconds', 'calls', 'failures', 'worst wait', 'token requests', 'figures']
const root = fileURLToPath(new URL('../../../', import.meta.url))
const page = fileURLToPath(new URL('../../../tools/benchmarks/SOAK.md', import.meta.url))
const introduction = `# Long-running tests

The last run of each test of \`pnpm soak\`, which writes this page.

`

/** Prints one table after the last test of the file, and writes it to the page of the last runs. */
export function createSoakTable() {
  // Fake timers may be in use.
  const { performance } = globalThis
  const now = performance.now.bind(performance)
  const machine = describeMachine()
  const rows: string[][] = []
  afterAll(() => {
    if (rows.length === 0) return
    const table = formatTable(rows)
    process.stdout.write(`\n${table}\n`)
    writeSection(relative(root, expect.getState().testPath!), `${machine}.\n\n${table}`)
  })
  return {
    /** Runs one part and adds its row, even if it fails. */
    async measure<Row extends SoakRow>(what: string, work: () => Promise<Row>): Promise<Row> {
      const began = now()
      const add = (row: SoakRow | undefined): void => {
        rows.push([
          what,
          ((now() - began) / 1000).toFixed(1),
          figure(row?.calls),
          row ? figure(row.failures) : 'FAILED',
          row?.worstMs === undefined ? '' : `${Math.round(row.worstMs)} ms`,
          figure(row?.tokenRequests),
          row?.figures ?? '',
        ])
      }
      try {
        const row = await work()
        add(row)
        return row
      } catch (error) {
        add(undefined)
        throw error
      }
    },
  }
}

function formatTable(rows: readonly string[][]): string {
  const used = columns.flatMap((_, column) => (rows.some((row) => row[column]) ? column : []))
  const widths = used.map((column) => Math.max(...[columns, ...rows].map((row) => row[column]!.length)))
  const line = (cells: readonly string[]): string =>
    `| ${used.map((column, index) => cells[column]!.padEnd(widths[index]!)).join(' | ')} |\n`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |\n`
  return line(columns) + rule + rows.map(line).join('')
}

/** Replaces the section of a file. */
function writeSection(file: string, content: string): void {
  const written = existsSync(page) ? readFileSync(page, 'utf8') : introduction
  const [, ...others] = written.split(/^## /m)
  const sections = others.filter((section) => !section.startsWith(`${file}\n`))
  const all = [...sections, `${file}\n\n${content}\n`].toSorted()
  writeFileSync(page, introduction + all.map((section) => `## ${section}`).join(''))
}

function figure(value: number | undefined): string {
  return value === undefined ? '' : value.toLocaleString('en')
}
