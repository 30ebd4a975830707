import { existsSync, readFileSync } from 'node:fs'
import type { DefaultTheme } from 'vitepress'
import { publishedEntries } from '../checks/published-entries.ts'

const file = new URL('../reference/typedoc-sidebar.json', import.meta.url)

/** The packages, as TypeDoc lists them. */
export function readSidebar(): DefaultTheme.SidebarItem[] {
  if (!existsSync(file)) throw new Error('The API reference is missing. Run: pnpm --dir docs build')
  const items = JSON.parse(readFileSync(file, 'utf8')) as DefaultTheme.SidebarItem[]
  const order = publishedEntries().map(({ name }) => `/reference/${name}`)
  return [
    {
      text: 'API reference',
      link: '/reference/',
      items: items
        .map((item) => ({ ...item, link: item.link!.replace(/\.md$/, '') }))
        .sort((a, b) => order.indexOf(a.link) - order.indexOf(b.link)),
    },
    { text: 'Back to the guides', link: '/' },
  ]
}
