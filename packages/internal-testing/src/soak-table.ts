import { afterAll } from 'vitest'

/** What a soak did. */
export interface SoakRow {
  readonly calls?: number | undefined
  readonly failures?: number | undefined
  /** The longest that one call took, in milliseconds. */
  readonly worstMs?: number | undefined
  readonly tokenRequests?: number | undefined
}

/** Prints one table after the last test of the file. */
export function createSoakTable() {
  // Fake timers may be in use.
  const { performance } = globalThis
  const now = performance.now.bind(performance)
  const rows: string[][] = [['what', 'seconds', 'calls', 'failures', 'worst wait', 'token requests']]
  afterAll(() => {
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
    const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
    process.stdout.write(`\n${lines.map((line) => `  ${line.trimEnd()}\n`).join('')}\n`)
  })
  return {
    /** Runs one part and adds its row, even if it fails. */
    async measure<Row extends SoakRow>(what: string, work: () => Promise<Row>): Promise<Row> {
      const began = now()
      const cells = (row: SoakRow | undefined): string[] => [
        what,
        ((now() - began) / 1000).toFixed(1),
        figure(row?.calls),
        row ? figure(row.failures) : 'FAILED',
        row?.worstMs === undefined ? '' : `${Math.round(row.worstMs)} ms`,
        figure(row?.tokenRequests),
      ]
      try {
        const row = await work()
        rows.push(cells(row))
        return row
      } catch (error) {
        rows.push(cells(undefined))
        throw error
      }
    },
  }
}

function figure(value: number | undefined): string {
  return value === undefined ? '' : value.toLocaleString('en')
}
