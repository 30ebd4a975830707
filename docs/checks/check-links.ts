import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
