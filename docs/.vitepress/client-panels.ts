import type { MarkdownRenderer } from 'vitepress'

const start = /^<!-- client: (.+?) -->/
const end = '<!-- clients end -->'

/**
 * Shows the sections after `<!-- client: axios -->` and its like as panels of one group of tabs, up to
 * `<!-- clients end -->`: readers choose their client once, and see no other in any group. On GitHub, all are shown.
 */
export function clientPanels(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('client-panels', (state) => {
    const names = state.tokens.flatMap(({ type, content }) =>
      type === 'html_block' ? (start.exec(content)?.[1] ?? []) : [],
    )
    if (names.length === 0) return
    const tabs = names.map(
      (name, index) =>
        `<input type="radio" name="client" id="client-${index}"${index === 0 ? ' checked' : ''}>` +
        `<label for="client-${index}">${name}</label>`,
    )
    const group = `<div class="clients"><div class="tabs">${tabs.join('')}</div><div class="blocks">`
    let opened = 0
    for (const token of state.tokens) {
      if (token.type !== 'html_block') continue
      if (start.test(token.content)) {
        token.content = `${opened === 0 ? group : '</div>'}<div class="panel${opened === 0 ? ' active' : ''}">\n`
        opened += 1
      } else if (token.content.startsWith(end)) {
        token.content = '</div></div></div>\n'
      }
    }
  })
}
