import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { site } from './places.ts'

/** The HTML of every page of the built site, by its file. */
export function readSite(): Map<string, string> {
  const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.html'),
  )
  return new Map(pages.map((page) => [page, readFileSync(join(site, page), 'utf8')]))
}
