import { html } from '@remix-run/html-template'
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
  readonly names: readonly string[]
  /** How many applications have it, by name. */
  readonly uses: ReadonlyMap<string, number>
  readonly state: ListState
  readonly form: FormState
}

export function cataloguePage(
  request: DeveloperRequest,
  { kind, names, uses, state, form }: CatalogueContent,
): PageContent {
  const { paths, csrfToken } = request
  const { title, plural, noun, empty, hint } = texts[kind]
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
    { label: 'Name', kind: 'name', cell: (name) => named({ name }) },
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
      <h2>Add a ${noun}</h2>
      ${csrfInput(csrfToken)} ${field({ name: 'name', label: 'Name', hint }, form)}
      <button>Add ${noun}</button>
    </form>`
  return { title, body }
}
