import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { docs, root, site } from './read-site.ts'

/** Follows every link of the built site, anchors included; VitePress itself checks links to pages only. */
export function checkLinks(contents: ReadonlyMap<string, string>): { links: number; problems: string[] } {
  const anchors = new Map(
    [...contents].map(([page, html]) => [
      page,
      new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id)),
    ]),
  )
  let links = 0
  const problems: string[] = []
  for (const [page, html] of contents) {
    for (const [, href] of html.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      const url = new URL(href!.replaceAll('&amp;', '&'), `http://site/${page}`)
      if (url.protocol === 'data:') continue
      if (url.host !== 'site') {
        if (!/^https?:$/.test(url.protocol)) problems.push(`${page}: ${href}`)
        // The site works offline: nothing is loaded from other sites.
        if (html.includes(` src="${href}"`)) problems.push(`${page} loads ${href}`)
        const [, source] =
          /^\/tokenwell\/tokenwell\/edit\/main\/(.*)/.exec(decodeURIComponent(url.pathname)) ?? []
        if (source && !existsSync(join(root, source))) problems.push(`${page}: no ${source} to edit`)
        continue
      }
      links++
      const file = fileOf(decodeURIComponent(url.pathname).slice(1))
      const anchor = decodeURIComponent(url.hash.slice(1))
      if (file === undefined) problems.push(`${page}: no ${href}`)
      else if (anchor && !anchors.get(file)?.has(anchor)) problems.push(`${page}: no anchor ${href}`)
    }
  }
  return { links, problems: [...new Set(problems)] }
}

function fileOf(path: string): string | undefined {
  const candidates = path === '' || path.endsWith('/') ? [`${path}index.html`] : [`${path}.html`, path]
  return candidates.find((file) => existsSync(join(site, file)))
}

/** Follows the links of plain Markdown files in a folder, outside of code, for readers without the site. */
export function checkPlainLinks(files: ReadonlyMap<string, string>, folder = docs): string[] {
  return [...files].flatMap(([file, markdown]) =>
    Array.from(
      markdown.replaceAll(/^```.*?^```$/gms, '').matchAll(/\]\(([^)#]+)[^)]*\)/g),
      ([, link]) => link!,
    )
      .filter((link) => !/^https?:/.test(link) && !existsSync(join(folder, dirname(file), link)))
      .map((link) => `${file}: there is no ${link}`),
  )
}

/** The same for `llms.txt` and the Markdown beside the built site. */
export function checkPlainText(): string[] {
  const files = new Map(
    globSync('**/{*.md,llms.txt}', { cwd: site }).map((file) => [
      file,
      readFileSync(join(site, file), 'utf8'),
    ]),
  )
  const problems = checkPlainLinks(files, site).map((problem) => `The site, ${problem}`)
  return files.has('llms.txt') ? problems : ['The site has no llms.txt', ...problems]
}

/** Each page is in `docs/README.md`, from which the sidebar of the site comes too. */
export function checkIndex(pages: ReadonlyMap<string, string>): string[] {
  const index = pages.get('README.md')!
  return [...pages.keys()]
    .filter((page) => !/^(?:\.\.\/|README\.|index\.)|\[name\]/.test(page) && !index.includes(`](${page})`))
    .map((page) => `README.md does not list ${page}`)
}

const budget = 110_000

/**
 * Adds up what the browser gets to show a page for the first time, compressed as most hosts do it. No page waits for the
 * fonts, which are cached for all.
 */
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
    const assets = Array.from(
      html.matchAll(/ (?:href|src)="(\/assets\/[^"]+)(?<!\.woff2)"/g),
      ([, asset]) => asset!,
    )
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
