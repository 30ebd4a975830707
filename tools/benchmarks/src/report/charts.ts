import type { Chart, LineChart } from '../result.ts'

export interface ChartContent {
  readonly title: string
  readonly width: number
  readonly height: number
  /** The CSS selector of the shapes, the property that colours them, and their other declarations. */
  readonly shapes: string
  readonly colour: 'fill' | 'stroke'
  readonly declarations?: string
  readonly elements: readonly string[]
}

/** A chart as SVG, readable on light and on dark. */
function chartSvg(content: ChartContent): string {
  const { title, width, height, shapes, colour, declarations = '', elements } = content
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 13px system-ui, sans-serif; fill: #333d47 }
.title { font-weight: 600; font-size: 15px }
.label { text-anchor: end }
${shapes} { ${declarations}${colour}: #8a97a6 }
.ours { ${colour}: #0f7f6e }
@media (prefers-color-scheme: dark) {
  text { fill: #d5dce4 }
  ${shapes} { ${colour}: #76849a }
  .ours { ${colour}: #35b8a2 }
}
</style>
<text class="title" x="10" y="24">${escaped(title)}</text>
${elements.join('\n')}
</svg>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

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

const height = 320
const [left, right, bottom] = [80, 300, 30]

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
