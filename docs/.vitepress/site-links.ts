import type { MarkdownRenderer } from 'vitepress'

const example = /^(?:\.\.\/)+examples\/([\w-]+)\.ts$/
const packageFile = /^(?:\.\.\/)+(packages\/[\w-]+\/[A-Z]+\.md)$/
const benchmarks = { RESULTS: 'results', README: 'method' } as const
const benchmark = /^(?:\.\.\/)+benchmarks\/(RESULTS|README)\.md$/
const source = /^(?:\.\.\/)+packages\/([\w-]+)\/src\/[\w/.-]+#(\w+)$/

/** Replaces links to files of the project, which work in plain Markdown, with links to the pages of the site. */
export function siteLinks(markdown: MarkdownRenderer): void {
  const open = markdown.renderer.rules['link_open']!
  markdown.renderer.rules['link_open'] = (tokens, index, ...rest) => {
    const token = tokens[index]!
    const href = token.attrGet('href') ?? ''
    const page = href
      .replace(example, '/examples/$1')
      .replace(benchmark, (_, file: keyof typeof benchmarks) => `/benchmarks/${benchmarks[file]}`)
      .replace(source, '/reference/@tokenwell/$1#$2')
      .replace(packageFile, 'https://github.com/tokenwell/tokenwell/blob/main/$1')
    token.attrSet('href', page)
    return open(tokens, index, ...rest)
  }
}
