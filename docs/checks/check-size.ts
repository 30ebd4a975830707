import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { site } from './read-site.ts'

const budget = 100_000

/** Adds up what the browser gets to show a page for the first time, compressed as most hosts do it. */
export function checkSize(contents: ReadonlyMap<string, string>): { largest: number; problems: string[] } {
  const sizes = new Map<string, number>()
  const sizeOf = (file: string): number => {
    const known = sizes.get(file)
    if (known !== undefined) return known
    const content = readFileSync(join(site, file))
    const size = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }).length
    sizes.set(file, size)
    return size
  }
  const pages = Array.from(contents, ([page, html]) => {
    const assets = Array.from(html.matchAll(/ (?:href|src)="(\/assets\/[^"]+)"/g), ([, asset]) => asset!)
    const size = [page, ...new Set(assets)].reduce((sum, file) => sum + sizeOf(file), 0)
    return { page, size }
  })
  return {
    largest: Math.max(...pages.map(({ size }) => size)),
    problems: pages
      .filter(({ size }) => size > budget)
      .map(({ page, size }) => `${page}: ${size} bytes to load, more than ${budget}`),
  }
}
