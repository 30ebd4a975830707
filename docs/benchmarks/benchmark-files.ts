import { existsSync, readFileSync } from 'node:fs'

const folder = new URL('../../benchmarks/', import.meta.url)

const files = [
  { file: 'RESULTS.md', name: 'results', text: 'Results' },
  { file: 'SOAK.md', name: 'soak', text: 'Long-running tests' },
  { file: 'README.md', name: 'method', text: 'How they are measured' },
].filter(({ file }) => existsSync(new URL(file, folder)))

/** The site's pages for those files of the benchmarks that exist. */
export function benchmarkPages() {
  return files.map(({ name, text }) => ({ text, link: `/benchmarks/${name}` }))
}

/** Their contents. Links to the project's other files become plain text, because the site does not contain them. */
export function benchmarkContents() {
  return files.map(({ file, name }) => {
    const content = readFileSync(new URL(file, folder), 'utf8')
      .replaceAll(/!\[([^\]]*)\]\((charts\/[^)]+)\)/g, '![$1](../../benchmarks/$2)')
      .replaceAll(/(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)#]*)[^)]*\)/g, (_, text: string, path: string) => {
        const target = files.find((each) => each.file === path)
        return target ? `[${text}](./${target.name})` : text
      })
    return { params: { name }, content }
  })
}
