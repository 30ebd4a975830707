import type { Chart } from '../result.ts'
import { chartSvg, escaped } from './chart-svg.ts'

const width = 760
const labelWidth = 300
const textWidth = 130
const rowHeight = 26
const top = 44

/** Horizontal bars as SVG. */
export function barChart({ title, bars }: Chart): string {
  const largest = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE)
  const height = top + bars.length * rowHeight + 8
  const rows = bars.map(({ label, value, text }, index) => {
    const y = top + index * rowHeight
    const length = Math.max(2, (Math.max(0, value) / largest) * (width - labelWidth - textWidth))
    const kind = label.startsWith('@tokenwell/') ? 'bar ours' : 'bar'
    return [
      `<text class="label" x="${labelWidth - 10}" y="${y + 15}">${escaped(label)}</text>`,
      `<rect class="${kind}" x="${labelWidth}" y="${y + 2}" width="${length.toFixed(1)}" height="18" rx="3"/>`,
      `<text x="${(labelWidth + length + 8).toFixed(1)}" y="${y + 15}">${escaped(text)}</text>`,
    ].join('\n')
  })
  return chartSvg({ title, width, height, shapes: '.bar', colour: 'fill', elements: rows })
}
