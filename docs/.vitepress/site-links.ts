import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { MarkdownRenderer, DefaultTheme } from 'vitepress'
import { publishedEntries } from '../checks/check-reference.ts'
import { docs } from '../checks/read-site.ts'

const example = /^(?:\.\.\/)+examples\/([\w-]+)\.ts$/
const packageFile = /^(?:\.\.\/)+(packages\/[\w-]+\/[A-Z]+\.md)$/
const benchmarks = { FLEET: 'simulation', RESULTS: 'results', README: 'method' } as const
const benchmark = /^(?:\.\.\/)+tools\/benchmarks\/(FLEET|RESULTS|README)\.md$/
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
      .replace(source, (_, name: string, member: string) => memberPage(name, member))
      .replace(packageFile, 'https://github.com/tokenwell/tokenwell/blob/main/$1')
    token.attrSet('href', page)
    return open(tokens, index, ...rest)
  }
}

/** Where the API reference documents a member, whose name a link has in lower case. */
function memberPage(packageName: string, member: string): string {
  const folder = `reference/@tokenwell/${packageName}`
  const page = globSync(`${folder}/**/*.md`, { cwd: docs }).find(
    (each) => basename(each, '.md').toLowerCase() === member,
  )
  if (page) return `/${page.replace(/\.md$/, '')}`
  // An entry point with few members has one page.
  const heading = new RegExp(`^### ${member}\\b`, 'im')
  const entry = globSync(`${folder}/**/index.md`, { cwd: docs }).find((each) =>
    heading.test(readFileSync(join(docs, each), 'utf8')),
  )
  if (!entry) throw new Error(`The API reference of ${packageName} has no page about ${member}.`)
  return `/${dirname(entry)}/#${member}`
}

/** The packages, without their members: every page of the site contains its sidebar. */
export const referenceSidebar: DefaultTheme.SidebarItem[] = [
  {
    text: 'API reference',
    link: '/reference/',
    items: publishedEntries().map(({ name }) => ({ text: name, link: `/reference/${name}/` })),
  },
  { text: 'Back to the guides', link: '/' },
]

/** The sections and pages that `docs/README.md` lists, for readers on GitHub too. All but the first one are closed. */
export function pageSidebar(benchmarks: DefaultTheme.SidebarItem[]): DefaultTheme.SidebarItem[] {
  const [, ...sections] = readFileSync(join(docs, 'README.md'), 'utf8').split(/^## /m)
  return sections.map((section, index) => {
    const items = Array.from(section.matchAll(/^- \[(.+?)\]\((.+?)\.md\)/gm), ([, text, page]) => ({
      text: text!,
      link: `/${page!.replace(/(?:^|(?<=\/))index$/, '')}`,
      ...(page === 'benchmarks/index' && { items: benchmarks }),
    }))
    return { text: section.split('\n')[0]!, collapsed: index > 0, items }
  })
}
