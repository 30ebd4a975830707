import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { docs } from './places.ts'

/** Follows the links of the plain Markdown files, for readers without the site. */
export function checkPlainLinks(pages: ReadonlyMap<string, string>): string[] {
  return [...pages].flatMap(([page, markdown]) =>
    Array.from(
      markdown.replaceAll(/^```.*?^```$/gms, '').matchAll(/\]\(([^)#]+)[^)]*\)/g),
      ([, link]) => link!,
    )
      .filter((link) => !/^https?:/.test(link) && !existsSync(join(docs, dirname(page), link)))
      .map((link) => `${page}: there is no ${link}`),
  )
}
