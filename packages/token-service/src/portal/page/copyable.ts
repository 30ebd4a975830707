import { html, type SafeHtml } from '@remix-run/html-template'

export interface CopyableOptions {
  /** Of the element; once on a page. */
  readonly id: string
  readonly value: string
  /** What the button says it copies. */
  readonly what: string
}

/** A value, and a button that copies it; the button is there once the script is. */
export function copyable({ id, value, what }: CopyableOptions): SafeHtml {
  return html`<span class="copyable"
    ><code id="${id}">${value}</code>
    <button type="button" class="quiet" data-copy="${id}" hidden>
      Copy<span class="visually-hidden"> the ${what}</span>
    </button></span
  >`
}
