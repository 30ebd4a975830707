import type { Table } from '../result.ts'

/** As Markdown, columns padded so that it reads well in a terminal too. */
export function formatTable({ title, columns, rows, notes = [] }: Table): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  const remarks = notes.map((note) => `- ${note}`)
  return [
    `### ${title}`,
    '',
    line(columns),
    rule,
    ...rows.map(line),
    '',
    ...remarks,
    ...(remarks.length ? [''] : []),
  ].join('\n')
}
