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
