import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's root. */
export const root = fileURLToPath(new URL('../../', import.meta.url))
/** Where the site's pages are. */
export const docs = fileURLToPath(new URL('../', import.meta.url))
/** The built site. */
export const site = fileURLToPath(new URL('../.vitepress/dist/', import.meta.url))
/** Blocks are compiled and run in this folder, where all packages that readers use are installed. */
export const examples = fileURLToPath(new URL('../../examples/', import.meta.url))

/** The HTML of every page of the built site, by its file. */
export function readSite(): Map<string, string> {
  const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.html'),
  )
  return new Map(pages.map((page) => [page, readFileSync(join(site, page), 'utf8')]))
}
