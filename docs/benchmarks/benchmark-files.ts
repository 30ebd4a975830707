import { existsSync, readFileSync } from 'node:fs'

const folder = new URL('../../tools/benchmarks/', import.meta.url)

interface BenchmarkPage {
  readonly file: string
  readonly name: string
  readonly text: string
  /** Those sections of the file. Without: the whole file. */
  readonly sections?: readonly string[]
}

// One page of all results would be slow to load.
const pages: readonly BenchmarkPage[] = [
  {
    file: 'RESULTS.md',
    name: 'results',
    text: 'Results',
    sections: ['Overview', 'Where a peer is better', 'Versions'],
  },
  {
    file: 'RESULTS.md',
    name: 'calls',
    text: 'Calls in detail',
    sections: ['Warm path', 'Stampede'],
  },
  {
    file: 'RESULTS.md',
    name: 'replacement',
    text: 'Refresh and revocation in detail',
    sections: ['Refresh under load', 'Revocation under load'],
  },
  {
    file: 'RESULTS.md',
    name: 'resources',
    text: 'Size and memory in detail',
    sections: ['Footprint', 'Tenants'],
  },
  {
    file: 'RESULTS.md',
    name: 'services',
    text: 'Fleets and services in detail',
    sections: ['Fleet', 'Verification', 'Token service'],
  },
  { file: 'FLEET.md', name: 'simulation', text: 'A simulated fleet' },
  { file: 'SOAK.md', name: 'soak', text: 'Long-running tests' },
  { file: 'README.md', name: 'method', text: 'How they are measured' },
]

const existing = pages.filter(({ file }) => existsSync(new URL(file, folder)))

/** The site's pages for those files of the benchmarks that exist. */
export function benchmarkPages() {
  return existing.map(({ name, text }) => ({ text, link: `/benchmarks/${name}` }))
}

/** Their contents. Links to the project's other files become plain text, because the site does not contain them. */
export function benchmarkContents() {
  return existing.map((page) => {
    const content = contentOf(page)
      .replaceAll(/!\[([^\]]*)\]\((charts\/[^)]+)\)/g, '![$1](../../tools/benchmarks/$2)')
      .replaceAll(/(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)#]*)[^)]*\)/g, (_, text: string, path: string) => {
        const target = existing.find((each) => each.file === path)
        return target ? `[${text}](./${target.name})` : text
      })
    return { params: { name: page.name }, content }
  })
}

function contentOf({ file, text, sections }: BenchmarkPage): string {
  const content = readFileSync(new URL(file, folder), 'utf8')
  if (!sections) return content
  const [introduction = '', ...parts] = content.split(/^(?=## )/m)
  const titleOf = (part: string) => /^## (.*)/.exec(part)?.[1] ?? ''
  const known = pages.flatMap((page) => (page.file === file ? (page.sections ?? []) : []))
  const unknown = parts.map(titleOf).filter((title) => !known.includes(title))
  if (unknown.length > 0)
    throw new Error(`No page of the site shows these sections of ${file}: ${unknown.join(', ')}`)
  const shown = parts.filter((part) => sections.includes(titleOf(part)))
  return [introduction.replace(/^# .*/, `# ${text}`), ...shown].join('')
}
