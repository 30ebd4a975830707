import { html, type SafeHtml } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { ServiceContext } from '../context.ts'
import { dialog } from '../../portal/layout/dialog.ts'
import {
  csrfInput,
  emptyForm,
  field,
  revisionInput,
  seenRevision,
  type FormState,
} from '../../portal/layout/form.ts'
import { list, listState, named, searchNames, type Column, type ListState } from '../../portal/layout/list.ts'
import { dangerSection } from '../../portal/layout/menus.ts'
import { picker } from '../../portal/layout/picker.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { formatCount, linkTo, partOf } from '../../portal/layout/paging.ts'
import { parseForm } from '../../portal/layout/parse-form.ts'
import { line, optionalLine } from '../../runtime/bounds.ts'
import { absent } from '../../portal/layout/time.ts'
import { administratorPages, type DeveloperRequest, type PortalResponse } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { actorOf } from '../sessions/session.ts'
import type { CatalogueKind, CatalogueEntry } from './storage.ts'
import { audiencePattern, productNamePattern, scopePattern } from './settings.ts'
import { checkRevision } from '../../storage/revision.ts'
import { entryRevision, removeEntry, setEntry } from './acts.ts'

const shownAudiences = 200

const texts = {
  products: {
    title: 'API products',
    plural: 'products',
    noun: 'product',
    /** In the query of the list of applications. */
    filter: 'product',
    hint: 'As tokens state it, such as speech-to-text.',
    form: z.object({
      name: line(100).regex(productNamePattern, 'Remove commas and brackets.'),
      description: optionalLine(200),
    }),
  },
  scopes: {
    title: 'Scopes',
    plural: 'scopes',
    noun: 'scope',
    filter: 'scope',
    hint: 'Without spaces, such as orders:read.',
    form: z.object({
      name: line(200).regex(scopePattern, 'Remove spaces, quotes and backslashes.'),
      description: optionalLine(200),
      audience: optionalLine(500).refine(
        (text) => text === '' || audiencePattern.test(text),
        'Enter a URI, or a name of ASCII characters without spaces.',
      ),
    }),
  },
} as const

/** The catalogues of API products and of scopes, for administrators. */
export async function cataloguePages(
  portal: FastifyInstance,
  { storage, perform }: ServiceContext,
): Promise<void> {
  const { get, post } = administratorPages(portal)

  for (const kind of ['products', 'scopes'] as const) {
    const { noun, form: schema } = texts[kind]
    const catalogue = storage[kind]

    const show = async (request: DeveloperRequest, form?: FormState): Promise<PageContent> => {
      const [entries, uses]: [CatalogueEntry[], ReadonlyMap<string, number>] = await Promise.all([
        catalogue.list(),
        storage.listings.catalogueUses(kind),
      ])
      const state = listState(request.query, { orders: ['name'] })
      const changed = entries.find(({ name }) => name === request.query['change'])
      const audiences = kind === 'scopes' ? await knownAudiences(storage) : []
      const shown = form ?? formOf(changed)
      return cataloguePage(request, { kind, entries, uses, state, changed, audiences, form: shown })
    }

    get(patterns[kind], async (request) => ({ page: await show(request) }))

    post(patterns[kind], async (request): Promise<PortalResponse> => {
      const parsed = parseForm<z.ZodObject>(schema, request.form)
      if (!parsed.data) return { page: await show(request, parsed.state), status: 422 }
      const entry = Object.fromEntries(Object.entries(parsed.data).filter(([, value]) => value !== ''))
      const notice = await perform(actorOf(request), (act) =>
        setEntry(act, kind, entry as unknown as CatalogueEntry, (current) =>
          checkRevision(`The ${noun}`, current && entryRevision(current), seenRevision(request.form)),
        ),
      )
      const { from } = request.form
      // The page of an API adds its scopes.
      const redirectTo =
        typeof from === 'string' && from !== '' ? request.paths.resourceServer(from) : request.paths[kind]
      return { redirectTo, notice }
    })

    post(patterns[`${noun}Removal`], async (request) => {
      const name = nameIn(request.form)
      await perform(actorOf(request), (act) => removeEntry(act, kind, name))
      return { redirectTo: request.paths[kind], notice: `${noun}_removed` }
    })
  }
}

/** The audiences that APIs and scopes have, so that nobody types one twice. */
async function knownAudiences({ resourceServers, scopes }: ServiceContext['storage']): Promise<string[]> {
  const [servers, entries] = await Promise.all([resourceServers.list(), scopes.list()])
  const all = [
    ...servers.flatMap(({ audiences }) => audiences ?? []),
    ...entries.flatMap(({ audience }) => audience ?? []),
  ]
  return [...new Set(all)].toSorted()
}

function nameIn({ name }: RawParameters): string {
  if (typeof name !== 'string') throw new PortalError('invalid_form')
  return name
}

function formOf(entry: CatalogueEntry | undefined): FormState {
  return entry ? { values: { ...entry } as Record<string, string>, errors: {} } : emptyForm
}

interface CatalogueContent {
  readonly kind: CatalogueKind
  readonly entries: readonly CatalogueEntry[]
  /** How many applications have it, by name. */
  readonly uses: ReadonlyMap<string, number>
  readonly state: ListState
  /** The one that the form changes; without it, the form adds one. */
  readonly changed: CatalogueEntry | undefined
  /** For scopes: those that exist. */
  readonly audiences: readonly string[]
  readonly form: FormState
}

function cataloguePage(
  request: DeveloperRequest,
  { kind, entries, uses, state, changed, audiences, form }: CatalogueContent,
): PageContent {
  const { paths, csrfToken } = request
  const { title, plural, noun, filter, hint } = texts[kind]
  const found = searchNames(entries, state.search, ({ name, description = '' }) => [name, description])
  const removal = ({ name }: CatalogueEntry) => ({
    title: `Remove the ${noun}`,
    text: `Developers can no longer choose it. Applications that have the ${noun} keep it.`,
    button: dialog({
      id: 'remove',
      label: html`Remove<span class="visually-hidden"> ${name}</span>`,
      title: `Remove ${name} from the catalogue?`,
      body: html`<input type="hidden" name="name" value="${name}" />
        <p>Developers can no longer choose it. Applications that have the ${noun} keep it.</p>`,
      action: paths[`${noun}Removal`],
      confirm: `Remove ${noun}`,
      csrfToken,
      danger: true,
    }),
  })
  const columns: readonly Column<CatalogueEntry>[] = [
    {
      label: 'Name',
      kind: 'name',
      cell: ({ name, description }) =>
        named({ name, href: `${linkTo(paths[kind], { change: name })}#description`, below: description }),
    },
    ...(kind === 'scopes'
      ? [
          {
            label: 'API',
            kind: 'text' as const,
            leaves: 2 as const,
            cell: ({ audience }: CatalogueEntry) =>
              audience === undefined
                ? html`<span class="muted">every API</span>`
                : html`<code class="cut" title="${audience}">${audience}</code>`,
          },
        ]
      : []),
    {
      label: 'Used by',
      kind: 'status',
      cell: ({ name }) => {
        const count = uses.get(name) ?? 0
        if (count === 0) return absent()
        const text = count === 1 ? '1 application' : `${formatCount(count)} applications`
        return html`<a href="${linkTo(paths.applications, { [filter]: name })}">${text}</a>`
      },
    },
  ]
  const body = html`<p class="lead">
      Developers choose from these ${plural} when they register an application.
    </p>
    ${list(columns, partOf(found, state), {
      label: title,
      browsing: {
        path: paths[kind],
        state,
        total: found.length,
        noun: plural,
        search: 'Name or description',
      },
      empty: html`<div class="empty"><h2>No ${plural} yet</h2></div>`,
    })}
    <form method="post" action="${paths[kind]}" class="card form">
      <h2>${changed ? `Change ${changed.name}` : `Add a ${noun}`}</h2>
      ${csrfInput(csrfToken)}
      ${changed ? html`<input type="hidden" name="name" value="${changed.name}" />${revisionInput(entryRevision(changed), form)}` : field({ name: 'name', label: 'Name', hint }, form)}
      ${field({ name: 'description', label: 'Description', hint: 'For those who choose it.', required: false }, form)}
      ${kind === 'scopes' ? audienceField(form, audiences) : ''}
      <div class="actions">
        <button>${changed ? 'Save' : `Add ${noun}`}</button>
        ${changed ? html`<a href="${paths[kind]}">Cancel</a>` : ''}
      </div>
    </form>
    ${changed ? dangerSection('Remove', [removal(changed)]) : ''}`
  // The form that changes an entry has no field for its name.
  const actions = html`<a class="button" href="${changed ? paths[kind] : ''}#name">Add a ${noun}</a>`
  return { title, body, actions }
}

function audienceField(state: FormState, audiences: readonly string[]): SafeHtml {
  const hint =
    'The audience of the API that it belongs to: only tokens for that API have it. Empty: tokens for every API.'
  const suggestions = audiences.slice(0, shownAudiences).map((text) => ({ text }))
  return picker({ name: 'audience', label: 'API', hint, required: false, suggestions }, state)
}
