import type { DefaultTheme } from 'vitepress'
import { publishedEntries } from '../checks/published-entries.ts'

/** The packages, without their members: every page of the site contains its sidebar. */
export const referenceSidebar: DefaultTheme.SidebarItem[] = [
  {
    text: 'API reference',
    link: '/reference/',
    items: publishedEntries().map(({ name }) => ({ text: name, link: `/reference/${name}/` })),
  },
  { text: 'Back to the guides', link: '/' },
]
