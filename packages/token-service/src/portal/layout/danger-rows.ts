import { html, type SafeHtml } from '@remix-run/html-template'

export interface DangerRow {
  readonly title: string
  readonly text: string
  readonly button: SafeHtml
}

/** What moves, revokes or deletes the page's subject. */
export function dangerRows(rows: readonly DangerRow[]): SafeHtml {
  return html`<ul class="rows">
    ${rows.map(
      ({ title, text, button }) =>
        html`<li class="bar">
          <p><strong>${title}</strong><br /><span class="muted">${text}</span></p>
          <div class="actions">${button}</div>
        </li>`,
    )}
  </ul>`
}
