import { html, type SafeHtml } from '@remix-run/html-template'
import { copyButton } from './copyable.ts'

/** An ID as a list shows it: its start, with a button that copies the whole. */
export function shortId(id: string, value: string, what: string): SafeHtml {
  const isShort = value.length <= 14
  return html`<span class="copyable short-id" title="${value}"
    ><code aria-hidden="true">${isShort ? value : `${value.slice(0, 8)}…`}</code
    ><span class="visually-hidden" id="${id}">${value}</span> ${copyButton(
      id,
      html`Copy<span class="visually-hidden"> the ${what}</span>`,
    )}</span
  >`
}
