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
export function chartSvg(content: ChartContent): string {
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

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
