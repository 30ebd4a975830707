import { html, type SafeHtml } from '@remix-run/html-template'
import type { Scope } from '../../features/catalogue/storage.ts'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { list, named, searchNames, type Column, type ListState } from '../layout/list.ts'
import { moreMenu } from '../layout/menus.ts'
import type { PageContent } from '../layout/page.ts'
import { formatCount, linkTo, partOf } from '../layout/paging.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export type CatalogueKind = 'products' | 'scopes'

const texts = {
  products: {
    title: 'API products',
    plural: 'products',
    noun: 'product',
    empty: 'No products yet',
    hint: undefined,
  },
  scopes: {
    title: 'Scopes',
    plural: 'scopes',
    noun: 'scope',
    empty: 'No scopes yet',
    hint: 'Without spaces, such as orders:read.',
  },
}

export interface CatalogueContent {
  readonly kind: CatalogueKind
  readonly entries: readonly Scope[]
  /** How many applications have it, by name. */
  readonly uses: ReadonlyMap<string, number>
  readonly state: ListState
  readonly form: FormState
}

export function cataloguePage(
  request: DeveloperRequest,
  { kind, entries, uses, state, form }: CatalogueContent,
): PageContent {
  const { paths, csrfToken } = request
  const { title, plural, noun, empty, hint } = texts[kind]
  const hints = scopeHints(entries)
  const names = entries.map(({ name }) => name)
  const found = searchNames(names, state.search, (name) => [name])
  const removal = (name: string) =>
    dialog({
      id: `remove-${names.indexOf(name)}`,
      label: html`Remove<span class="visually-hidden"> ${name}</span>`,
      style: 'ghost',
      title: `Remove ${name} from the catalogue?`,
      body: html`<input type="hidden" name="remove" value="${name}" />
        <p>Developers can no longer choose it. Applications that have the ${noun} keep it.</p>`,
      action: paths[kind],
      confirm: `Remove ${noun}`,
      csrfToken,
      danger: true,
    })
  const columns: readonly Column<string>[] = [
    { label: 'Name', kind: 'name', cell: (name) => named({ name, below: hints.get(name) }) },
    {
      label: 'Used by',
      kind: 'status',
      cell: (name) => {
        const count = uses.get(name) ?? 0
        const text = count === 1 ? '1 application' : `${formatCount(count)} applications`
        return kind === 'products' && count > 0
          ? html`<a href="${linkTo(paths.applications, { q: name })}">${text}</a>`
          : text
      },
    },
    {
      label: 'Actions',
      kind: 'menu',
      cell: (name) => moreMenu({ id: `more-${names.indexOf(name)}`, about: name, items: [removal(name)] }),
    },
  ]
  const body = html`<p class="lead">
      Developers choose from these ${plural} when they register an application.
    </p>
    ${list(columns, partOf(found, state), {
      label: title,
      browsing: { path: paths[kind], state, total: found.length, noun: plural, search: 'Name' },
      empty: html`<div class="empty"><h2>${empty}</h2></div>`,
    })}
    <form method="post" action="${paths[kind]}" class="card form">
      <h2>${kind === 'scopes' ? 'Add or change' : 'Add'} a ${noun}</h2>
      ${csrfInput(csrfToken)} ${field({ name: 'name', label: 'Name', hint }, form)}
      ${kind === 'scopes' ? scopeFields(form) : ''}
      <button>${kind === 'scopes' ? 'Save' : 'Add'} ${noun}</button>
    </form>`
  return { title, body }
}

/** What is said about scopes to those who choose them. */
export function scopeHints(scopes: readonly Scope[]): ReadonlyMap<string, string> {
  return new Map(
    scopes.flatMap(({ name, audience, description }) => {
      const api = audience === undefined ? undefined : `Only in tokens for ${audience}`
      const hint = [description, api].filter((text) => text !== undefined).join('. ')
      return hint === '' ? [] : [[name, hint] as const]
    }),
  )
}

function scopeFields(state: FormState): SafeHtml {
  const hint =
    'The audience of the API that it belongs to: only tokens for that API have it. Empty: tokens for every API.'
  return html`${field({ name: 'description', label: 'Description', required: false }, state)}
  ${field({ name: 'audience', label: 'API', hint, required: false }, state)}`
}
