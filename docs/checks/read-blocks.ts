import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './read-site.ts'

/** A fenced block of a page, with the instructions in the comments around it, which readers do not see. */
export interface Block {
  readonly page: string
  /** The number of its first line, from 1. */
  readonly line: number
  readonly language: string
  readonly text: string
  /** `<!-- given: tokens, api -->`: names that the page introduces elsewhere, imported from `examples/run/given.ts`. */
  readonly given: string | undefined
  /** The name in brackets after the language. */
  readonly fileName: string | undefined
  /** `<!-- continues -->`: continues the block above; `<!-- continues: tokens.mjs -->`: the one with this file name. */
  readonly continues: string | undefined
  /** `<!-- in a page -->`: URLs are relative to a backend with a token route. */
  readonly inPage: boolean
  /** `<!-- prints -->`: the output of the block above. */
  readonly prints: boolean
  /** `<!-- not run: reason -->` */
  readonly notRun: string | undefined
  /** `<!-- then: code -->` below it: assertions to run afterwards. */
  readonly afterwards: string | undefined
}

const fence = /^```(\S*)(?: \[(.+?)\])?[^\n]*\n(.*?)^```$/gms
const commentsBefore = /(?:<!--(?:(?!-->).)*-->\s*)+$/s
const thenAfter = /^\s*<!-- then:(.*?)-->/s

/** All fenced blocks of a Markdown text. */
export function readBlocks(page: string, markdown: string): Block[] {
  return Array.from(markdown.matchAll(fence), (match) => {
    const before = markdown.slice(0, match.index)
    const comments = commentsBefore.exec(before)?.[0] ?? ''
    const marker = (pattern: RegExp) => pattern.exec(comments)?.[1]?.trim()
    return {
      page,
      line: before.split('\n').length + 1,
      language: match[1]!,
      fileName: match[2],
      text: match[3]!,
      given: marker(/<!-- given:(.*?)-->/s),
      continues: marker(/<!-- continues(?:: )?(.*?)-->/s),
      inPage: comments.includes('<!-- in a page -->'),
      prints: comments.includes('<!-- prints -->'),
      notRun: marker(/<!-- not run:(.*?)-->/s),
      afterwards: thenAfter.exec(markdown.slice(match.index + match[0].length))?.[1]?.trim(),
    }
  })
}

/** The hand-written Markdown files of a folder, by their path in it. */
export function readPages(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const pages = files.filter(
    (file) => file.endsWith('.md') && !/(?:^|\/)(?:node_modules|reference|\.vitepress)\//.test(file),
  )
  return new Map(pages.sort().map((page) => [page, readFileSync(join(folder, page), 'utf8')]))
}

/** Other Markdown files of the project, by their path from the folder of the pages. Their code is checked elsewhere. */
export function readPlainPages(): Map<string, string> {
  const files = ['.', 'packages/*', 'apps/*', 'tools/benchmarks'].flatMap((folder) =>
    globSync(`${folder}/*.md`, { cwd: root }),
  )
  return new Map(files.map((file) => [join('..', file), readFileSync(join(root, file), 'utf8')]))
}
