import { html, type SafeHtml } from '@remix-run/html-template'

/** The "…" menu of a row or a page: what is needed rarely, or destroys something. `about`: completes its name. */
export function moreMenu(about: string, items: readonly SafeHtml[]): SafeHtml | '' {
  if (items.length === 0) return ''
  return html`<details class="more" name="more">
    <summary aria-label="More actions for ${about}">⋯</summary>
    <ul>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>
  </details>`
}

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
