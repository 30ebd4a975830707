import type { Chart } from '../result.ts'

/** A chart as SVG, readable on light and on dark. */
function chartSvg(title: string, height: number, elements: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 13px system-ui, sans-serif; fill: #333d47 }
.title { font-weight: 600; font-size: 15px }
.label { text-anchor: end }
.bar { fill: #8a97a6 }
.ours { fill: #0f7f6e }
@media (prefers-color-scheme: dark) {
  text { fill: #d5dce4 }
  .bar { fill: #76849a }
  .ours { fill: #35b8a2 }
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
  return chartSvg(title, height, rows)
}
