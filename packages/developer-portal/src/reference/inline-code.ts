import { html, type SafeHtml } from '@remix-run/html-template'

/** Renders `code`, the only Markdown in our descriptions. */
export function inlineCode(text: string): SafeHtml {
  const parts = text.split('`')
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}
