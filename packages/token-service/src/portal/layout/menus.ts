import { html, type SafeHtml } from '@remix-run/html-template'

export interface MoreMenu {
  /** The element's ID, unique on the page. */
  readonly id: string
  /** Completes the name of its button. */
  readonly about: string
  readonly items: readonly SafeHtml[]
}

/** The "⋯" menu of a row or a page: what is needed rarely, or destroys something. It works without a script. */
export function moreMenu({ id, about, items }: MoreMenu): SafeHtml | '' {
  if (items.length === 0) return ''
  return html`<button
      type="button"
      class="ghost more"
      popovertarget="${id}"
      aria-label="More actions for ${about}"
    >
      ⋯
    </button>
    <ul id="${id}" class="menu-items" popover>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>`
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

/** What else happens if an administrator deletes something. */
export const endsForOthers =
  'Only an administrator can then restore it. Unless you are an owner of the project, approvals, secrets and keys end now: they are not restored.'

export interface PageTab {
  readonly label: string
  readonly href: string
  readonly isCurrent: boolean
}

/** The pages of one subject. */
export function pageTabs(label: string, all: readonly PageTab[]): SafeHtml {
  return html`<nav class="page-tabs" aria-label="${label}">
    <ul>
      ${all.map((tab) => html`<li><a href="${tab.href}" ${tab.isCurrent ? html`aria-current="page"` : ''}>${tab.label}</a></li>`)}
    </ul>
  </nav>`
}
