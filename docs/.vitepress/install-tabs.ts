import convert from 'npm-to-yarn'
import type { MarkdownRenderer } from 'vitepress'

const managers = ['npm', 'pnpm', 'yarn', 'bun'] as const

/** Shows a block of `npm install` commands as tabs, one for each package manager. */
export function installTabs(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('block', 'install-tabs', (state) => {
    state.tokens = state.tokens.flatMap((token) => {
      const lines = token.content.trim().split('\n')
      if (token.type !== 'fence' || !lines.every((line) => line.startsWith('npm install '))) return [token]
      const open = new state.Token('container_code-group_open', 'div', 1)
      const close = new state.Token('container_code-group_close', 'div', -1)
      const tabs = managers.map((manager) => {
        const tab = new state.Token('fence', 'code', 0)
        Object.assign(tab, { info: `sh [${manager}]`, markup: '```', map: token.map, block: true })
        tab.content = manager === 'npm' ? token.content : `${convert(token.content.trim(), manager)}\n`
        return tab
      })
      return [open, ...tabs, close]
    })
  })
}
