import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { readPages } from '../checks/read-blocks.ts'
import { docs, root } from '../checks/read-site.ts'
import { includedFile } from './included-files.ts'

const repository = 'https://github.com/tokenwell/tokenwell/blob/main'

/** Writes `llms.txt` (https://llmstxt.org), and each page that it lists as Markdown, beside the built site. */
export function writePlainText(folder: string): void {
  const pages = readPages(docs)
  const index = pages.get('README.md')!
  const [, ...sections] = index.split(/^## /m)
  const lists = sections.map((section) =>
    section
      .trim()
      .replaceAll(/^(- \[.+?\]\((.+?)\))$/gm, (_, item, page) => `${item}: ${summaryOf(pages.get(page)!)}`),
  )
  const home = pages.get('index.md')!
  const [, pitch] = /^# .+\n\n(.+)$/m.exec(home)!
  const text = [`# Tokenwell`, `> ${pitch}`, ...lists.map((list) => `## ${list}`)].join('\n\n')
  writeFileSync(join(folder, 'llms.txt'), `${text}\n`)

  for (const [, page] of index.matchAll(/\]\((.+?\.md)\)/g)) {
    mkdirSync(join(folder, dirname(page!)), { recursive: true })
    writeFileSync(join(folder, page!), plainText(page!, pages.get(page!)!))
  }
}

/** The first paragraph, in one line. */
function summaryOf(markdown: string): string {
  const [, paragraph = ''] = /^# .+\n\n([^]+?)\n\n/m.exec(markdown) ?? []
  return paragraph.replaceAll(/\s+/g, ' ').replaceAll(/\[(.+?)\]\(.+?\)/g, '$1')
}

/** Without what only the site or its checks read, and with the files that the page includes. */
function plainText(page: string, markdown: string): string {
  const resolve = (path: string) => join('docs', dirname(page), path)
  return (
    markdown
      .replace(/^---\n.*?^---\n\s*/ms, '')
      .replaceAll(/^<!--.*?-->\n+/gms, '')
      .replaceAll(/^:::.*\n+/gm, '')
      .replaceAll(includedFile, (_, path: string) => {
        const code = readFileSync(join(root, resolve(path)), 'utf8')
        return `\`\`\`${extname(path).slice(1)}\n${code}\`\`\``
      })
      // Pages are beside this one; everything else is in the repository.
      .replaceAll(/\]\((\.[^)]+)\)/g, (link, path: string) =>
        /\.md(?:#|$)/.test(path) && resolve(path).startsWith('docs/')
          ? link
          : `](${repository}/${resolve(path)})`,
      )
  )
}
