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
    ><code id="${id}">${value}</code>
    <button type="button" class="quiet" data-copy="${id}" hidden>
      Copy<span class="visually-hidden"> the ${what}</span>
    </button></span
  >`
}
