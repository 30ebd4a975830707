import type { LineChart } from '../result.ts'
import { chartSvg, escaped } from './chart-svg.ts'

const width = 760
const height = 320
const [left, right, top, bottom] = [80, 300, 44, 30]

/** Lines over time as SVG. */
export function lineChart({ title, end, lines }: LineChart): string {
  const largest = Math.max(...lines.flatMap(({ values }) => values), Number.MIN_VALUE)
  const points = Math.max(...lines.map(({ values }) => values.length))
  const x = (index: number): number => left + (index / (points - 1)) * (width - left - right)
  const y = (value: number): number => height - bottom - (value / largest) * (height - top - bottom)
  const drawn = lines.map(({ label, values }, index) => {
    const kind = label.startsWith('@tokenwell/') ? 'ours' : 'peer'
    const path = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
    const dashes = ['', '7 4', '2 3', '10 3 2 3'][index % 4]!
    const row = top + 12 + index * 22
    return [
      `<polyline class="${kind}" stroke-dasharray="${dashes}" points="${path}"/>`,
      `<line class="${kind}" stroke-dasharray="${dashes}" x1="${width - right + 16}" x2="${width - right + 46}" y1="${row - 4}" y2="${row - 4}"/>`,
      `<text x="${width - right + 54}" y="${row}">${escaped(label)}</text>`,
    ].join('\n')
  })
  return chartSvg({
    title,
    width,
    height,
    shapes: 'polyline, line',
    colour: 'stroke',
    declarations: 'fill: none; stroke-width: 2; ',
    elements: [
      `<text class="label" x="${left - 8}" y="${y(largest) + 5}">${Math.round(largest).toLocaleString('en')}</text>`,
      `<text class="label" x="${left - 8}" y="${y(0) + 5}">0</text>`,
      `<text class="label" x="${x(points - 1)}" y="${height - 8}">${escaped(end)}</text>`,
      ...drawn,
    ],
  })
}
