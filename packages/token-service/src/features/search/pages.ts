import type { FastifyInstance } from 'fastify'
import { html, type SafeHtml } from '@remix-run/html-template'
import type { ServiceContext } from '../context.ts'
import { listedStatus } from '../applications/status-badge.ts'
import { shortId } from '../../portal/layout/copyable.ts'
import { list, named, names, type Column } from '../../portal/layout/list.ts'
import { formatCount, linkTo, pagingOf } from '../../portal/layout/paging.ts'
import { lastUse, relativeTime, type LastUses } from '../../portal/layout/time.ts'
import { developerPages } from '../../portal/page-routes.ts'
import { patterns, type Paths } from '../../portal/paths.ts'
import { ownerIdOf } from '../projects/own-projects.ts'
import type { RegisteredClient, Project } from '../../storage/application.ts'
import type { Developer } from '../../storage/developer.ts'
import { choiceKinds, findChoices } from './choices.ts'
import { PortalError } from '../../portal/portal-error.ts'
import type { ListedProject, ListPage } from './listings.ts'

/** How many of a kind are shown; the rest is behind a link to their list. */
const shown = 8

interface Found {
  readonly search: string
  readonly applications: ListPage<RegisteredClient>
  readonly projects: ListPage<ListedProject>
  readonly owners: ReadonlyMap<string, readonly string[]>
  /** For administrators. */
  readonly people: ListPage<Developer>
  readonly lastUses: LastUses
  readonly nowMs: number
}

/** The search of everything that a person may see. */
export async function searchPages(
  portal: FastifyInstance,
  { storage, activity, clock }: ServiceContext,
): Promise<void> {
  const { listings } = storage
  const { get } = developerPages(portal)
  get(patterns.search, async (request) => {
    const { search } = pagingOf(request.query)
    const { paths, developer } = request
    const nothing = { items: [], total: 0 }
    if (search === '') return { page: searchPage(paths, undefined) }
    const ownerId = ownerIdOf(request)
    const part = { search, limit: shown, offset: 0 }
    const [applications, projects, people] = await Promise.all([
      listings.applications({ ...part, ownerId, namesFirst: true }),
      listings.projects({ ...part, ownerId }),
      developer.administrator ? listings.people(part) : nothing,
    ])
    // A whole client ID has one meaning: where somebody comes with one from a log, nobody has to choose.
    const [only] = applications.items
    if (only?.application.clientId === search)
      return { redirectTo: paths.application(only.project.id, only.application.id) }
    const found: Found = {
      search,
      applications,
      projects,
      people,
      owners: await listings.owners(projects.items.map(({ project }) => project.id)),
      lastUses: await activity.lastUses(applications.items.map(({ application }) => application.id)),
      nowMs: clock.now(),
    }
    return { page: searchPage(paths, found) }
  })

  get(patterns.choices, async (request) => {
    const kind = choiceKinds.find((each) => each === request.params.kind)
    if (!kind) throw new PortalError('not_found')
    const choices = await findChoices(storage, request, kind, pagingOf(request.query).search)
    return { json: choices.map(({ text, hint }) => ({ text, hint })) }
  })
}

function searchPage(paths: Paths, found: Found | undefined) {
  const form = html`<form
    method="get"
    action="${paths.search}"
    class="find"
    role="search"
    aria-label="Search"
  >
    <span data-key
      ><input
        type="search"
        name="q"
        value="${found?.search ?? ''}"
        aria-label="Search everything"
        placeholder="A name, or a client ID"
        autocomplete="off"
        ${found ? '' : html`autofocus`}
    /></span>
    <button class="outline">Search</button>
  </form>`
  return { title: 'Search', body: html`${form} ${found === undefined ? '' : results(paths, found)}` }
}

function results(paths: Paths, found: Found): SafeHtml {
  const { search, applications, projects, people, owners, lastUses, nowMs } = found
  if (applications.total + projects.total + people.total === 0)
    return html`<p class="empty">Nothing matches “${search}”.</p>`
  const query = { q: search }
  const applicationColumns: readonly Column<RegisteredClient>[] = [
    {
      label: 'Application',
      kind: 'name',
      cell: ({ application: { id, name }, project }) =>
        named({
          name,
          href: paths.application(project.id, id),
          below: project.name,
          belowHref: paths.project(project.id),
        }),
    },
    { label: 'Status', kind: 'status', cell: (client) => listedStatus(client, nowMs) },
    {
      label: 'Client ID',
      kind: 'id',
      leaves: 2,
      cell: ({ application: { id, clientId, name } }) =>
        shortId(`client-id-${id}`, clientId, `client ID of ${name}`),
    },
    {
      label: 'Last used',
      kind: 'time',
      leaves: 1,
      cell: ({ application }) => lastUse(application.id, lastUses, nowMs),
    },
  ]
  const projectColumns: readonly Column<ListedProject>[] = [
    {
      label: 'Project',
      kind: 'name',
      cell: ({ project }) => named({ name: project.name, href: paths.project(project.id) }),
    },
    { label: 'Owners', kind: 'text', leaves: 1, cell: ({ project }) => ownersOf(project, owners) },
    { label: 'Applications', kind: 'number', cell: ({ applications: count }) => formatCount(count) },
  ]
  const peopleColumns: readonly Column<Developer>[] = [
    {
      label: 'Name',
      kind: 'name',
      cell: ({ name }) => named({ name, href: linkTo(paths.developers, { q: name }) }),
    },
    {
      label: 'Role',
      kind: 'status',
      cell: ({ administrator }) => (administrator ? 'Administrator' : 'Developer'),
    },
    {
      label: 'Joined',
      kind: 'time',
      leaves: 1,
      cell: ({ createdAtMs }) => relativeTime(createdAtMs, nowMs),
    },
  ]
  return html`${part('Applications', applications, applicationColumns, linkTo(paths.applications, query))}
  ${part('Projects', projects, projectColumns, linkTo(paths.projects, query))}
  ${part('People', people, peopleColumns, linkTo(paths.developers, query))}`
}

function ownersOf({ id }: Project, owners: ReadonlyMap<string, readonly string[]>): SafeHtml {
  return names(owners.get(id) ?? [])
}

function part<Row>(
  title: string,
  { items, total }: ListPage<Row>,
  columns: readonly Column<Row>[],
  all: string,
): SafeHtml | '' {
  if (total === 0) return ''
  const id = title.toLowerCase()
  return html`<section aria-labelledby="${id}">
    <div class="bar">
      <h2 id="${id}">${title}</h2>
      ${total > items.length ? html`<div class="actions"><a href="${all}">All ${formatCount(total)}</a></div>` : ''}
    </div>
    ${list(columns, items, { label: title })}
  </section>`
}
