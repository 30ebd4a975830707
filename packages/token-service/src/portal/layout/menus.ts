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

/** At the end of a page: what moves, revokes or deletes its subject, that which is hardest to undo last. */
export function dangerSection(title: string, rows: readonly DangerRow[]): SafeHtml {
  return html`<section class="last" aria-labelledby="more">
    <h2 id="more">${title}</h2>
    <ul class="rows">
      ${rows.map(
        ({ title: name, text, button }) =>
          html`<li class="bar">
            <p><strong>${name}</strong><br /><span class="muted">${text}</span></p>
            <div class="actions">${button}</div>
          </li>`,
      )}
    </ul>
  </section>`
}
