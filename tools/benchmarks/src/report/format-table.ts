import type { Table } from '../result.ts'

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
