import type { MarkdownRenderer } from 'vitepress'

/** A line that only links to a file of the integrations. */
export const includedFile = /^\[[^\]]+\]\((\.[^)]*\/examples\/integrations\/[^)]+)\)$/gm

/** Shows the files themselves in place of such links, which lead readers on GitHub to the code. */
export function includeFiles(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('normalize', 'included-files', (state) => {
    state.src = state.src.replaceAll(includedFile, '<<< $1')
  })
}
