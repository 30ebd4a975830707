import { html, type SafeHtml } from '@remix-run/html-template'

/** Of the Markdown that descriptions may hold, they use `code`. */
export function described(text: string): SafeHtml {
  const parts = text.split('`')
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}
