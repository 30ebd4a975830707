import { html, type SafeHtml } from '@remix-run/html-template'
import type { CatalogueEntry } from '../catalogue/storage.ts'
import { checkboxes, type FormState } from '../../portal/layout/form.ts'
import { formatCount } from '../../portal/layout/paging.ts'
import { catalogueHints } from '../catalogue/hints.ts'

/** So many are read at a glance: they need neither groups nor a search. */
const fewScopes = 12
const others = 'Others'
/** With more characters than that, names stand alone: no page has over 100 kB. */
const mostCharacters = 60_000
/** How many an overview shows before the others. */
const shownScopes = 6

export interface ScopeChoices {
  readonly scopes: readonly string[]
  /** What is known of them, by name. */
  readonly entries: ReadonlyMap<string, CatalogueEntry>
}

/**
 * The scopes to choose from. Many are grouped by their API in a part that does not grow; its script searches them, and shows the
 * chosen ones. Without it, each group says how many are chosen.
 */
export function scopePicker({ scopes, entries }: ScopeChoices, state: FormState): SafeHtml | '' {
  const chosen = state.chosenScopes ?? []
  const hint = 'The scopes that its tokens can have.'
  if (scopes.length === 0) return ''
  if (scopes.length <= fewScopes) {
    const hints = catalogueHints([...entries.values()])
    return checkboxes({ name: 'scope', label: 'Scopes', hint, choices: scopes, hints }, { ...state, chosen })
  }
  const described = (name: string) => entries.get(name)?.description ?? ''
  const characters = scopes.reduce((sum, name) => sum + 2 * name.length + described(name).length, 0)
  const groups = new Map<string, string[]>()
  for (const name of scopes) {
    const api = apiOf(name, entries.get(name))
    groups.set(api, [...(groups.get(api) ?? []), name])
  }
  const sorted = [...groups].toSorted(
    ([a], [b]) => Number(a === others) - Number(b === others) || (a < b ? -1 : 1),
  )
  return html`<fieldset>
    <legend>Scopes</legend>
    <p class="hint">${hint} There are ${formatCount(scopes.length)}, grouped by their APIs.</p>
    <div class="pick" data-pick>
      <input
        type="search"
        aria-label="Search the scopes"
        placeholder="Search the scopes"
        autocomplete="off"
      />
      <p class="picked" aria-live="polite">${chosen.map(chip)}</p>
      <div class="all">
        ${sorted.map(([api, names]) => group(api, names, chosen, characters > mostCharacters ? new Map() : entries))}
        <p class="hint none" hidden>No scope matches.</p>
      </div>
    </div>
  </fieldset>`
}

/** The API that the scope belongs to, or what its name says. */
function apiOf(name: string, entry: CatalogueEntry | undefined): string {
  const url = entry?.audience ?? name
  if (URL.canParse(url) && /^https?:/.test(url)) return new URL(url).host
  return entry?.audience ?? others
}

/** As the script makes it: nothing moves when that runs. */
function chip(name: string): SafeHtml {
  return html`<button type="button" class="chip" aria-label="Remove ${name}">${name} ✕</button>`
}

function group(
  api: string,
  names: readonly string[],
  chosen: readonly string[],
  entries: ScopeChoices['entries'],
): SafeHtml {
  const count = names.filter((name) => chosen.includes(name)).length
  return html`<details>
    <summary>
      ${api}
      <b
        >${count === 0 ? formatCount(names.length) : `${formatCount(count)} of ${formatCount(names.length)}`}</b
      >
    </summary>
    ${names.map((name) => label(name, chosen.includes(name), entries.get(name)?.description))}
  </details>`
}

/** Without spaces between its parts: there may be hundreds. */
function label(name: string, isChosen: boolean, description: string | undefined): SafeHtml {
  const box = html`<input type="checkbox" name="scope" value="${name}" ${isChosen ? html`checked` : ''} />`
  const hint = description === undefined ? '' : html`<br /><span class="hint">${description}</span>`
  return html`<label>${box}<span>${name}${hint}</span></label>`
}

/** The scopes that an application has. */
export function scopeList(scopes: readonly string[]): SafeHtml {
  const [first, more] = [scopes.slice(0, shownScopes), scopes.slice(shownScopes)]
  const lines = (names: readonly string[]) => html`${names.map((name) => html`${name}<br />`)}`
  return html`${lines(first)}${
    more.length === 0
      ? ''
      : html`<details>
          <summary>${formatCount(more.length)} more</summary>
          ${lines(more)}
        </details>`
  }`
}
