import { existsSync, readFileSync } from 'node:fs'
import type { DefaultTheme } from 'vitepress'

const file = new URL('../reference/typedoc-sidebar.json', import.meta.url)

/** The packages, as TypeDoc lists them. */
export function readSidebar(): DefaultTheme.SidebarItem[] {
  if (!existsSync(file)) throw new Error('The reference is not there yet; run: pnpm --dir docs build')
  const items = JSON.parse(readFileSync(file, 'utf8')) as DefaultTheme.SidebarItem[]
  return [
    {
      text: 'API reference',
      link: '/reference/',
      items: items.map((item) => ({ ...item, link: item.link!.replace(/\.md$/, '') })),
    },
    { text: 'Back to the guides', link: '/' },
  ]
}
