import { html, type SafeHtml } from '@remix-run/html-template'

export interface CopyableOptions {
  /** The element's ID, unique on the page. */
  readonly id: string
  readonly value: string
  /** What the button copies, for screen readers. */
  readonly what: string
}

/** A value with a copy button, which the script reveals. */
export function copyable({ id, value, what }: CopyableOptions): SafeHtml {
  return html`<span class="copyable"
    ><code id="${id}">${value}</code> ${copyButton(id, copyLabel(what))}</span
  >`
}

/** Copies the text of the element; the script reveals it. It replaces the label's first text for a moment. */
export function copyButton(id: string, label: string | SafeHtml): SafeHtml {
  return html`<button type="button" class="outline small" data-copy="${id}">${label}</button>`
}

/** "Copy", and for screen readers what. */
export function copyLabel(what: string): SafeHtml {
  return html`Copy<span class="visually-hidden"> the ${what}</span>`
}

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
