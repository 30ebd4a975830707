import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import {
  LastAdministrator,
  blockDeveloper,
  createPasswordLink,
  demoteDeveloper,
  inviteDeveloper,
  promoteDeveloper,
  removeDeveloper,
  withdrawInvitation,
} from './acts.ts'
import type { Invitation } from './storage.ts'
import type { Developer } from '../../storage/developer.ts'
import type { ListPage } from '../search/listings.ts'
import { portalLinks } from '../../oauth/base-url.ts'
import { copyable } from '../../portal/layout/copyable.ts'
import { dialog } from '../../portal/layout/dialog.ts'
import { type FormState, csrfInput, emptyForm, field } from '../../portal/layout/form.ts'
import { type Column, type ListState, list, listState, named, names } from '../../portal/layout/list.ts'
import { type DangerRow, dangerSection } from '../../portal/layout/menus.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { formatCount, linkTo } from '../../portal/layout/paging.ts'
import { parseForm } from '../../portal/layout/parse-form.ts'
import { line } from '../../runtime/bounds.ts'
import { type LastUses, absent, lastUse, relativeTime } from '../../portal/layout/time.ts'
import { administratorPages, type DeveloperRequest, type PortalResponse } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import type { PortalService } from '../sessions/openid-provider.ts'
import { hasPassword } from '../sessions/password.ts'
import { actorOf } from '../sessions/session.ts'
import type { Project } from '../../storage/application.ts'

/** How many a dialog names. */
const namedProjects = 5
const shownProjects = 100
const invitationForm = z.object({ name: line(200) })

/** The list of developers, for the administrator. */
export async function peoplePages(
  portal: FastifyInstance,
  { storage, perform, activity, clock, openidProvider }: PortalService,
): Promise<void> {
  const { get, post } = administratorPages(portal)
  const { developers } = storage
  const localPasswords = openidProvider?.localPasswords ?? true

  async function show(request: DeveloperRequest): Promise<PortalResponse> {
    const nowMs = clock.now()
    const facets = Object.keys(peopleFacets) as (keyof typeof peopleFacets)[]
    const state = listState(request.query, { orders: peopleOrders, facets })
    const { search, facet, order, limit, offset } = state
    const people = (role: typeof facet, rows: number) =>
      storage.listings.people({
        search,
        order,
        administrator: role === '' ? undefined : role === 'administrators',
        limit: rows,
        offset: rows === 0 ? 0 : offset,
      })
    const [found, invitations, ...totals] = await Promise.all([
      people(facet, limit),
      developers.invitations(nowMs),
      ...facets.map(async (role) => (await people(role, 0)).total),
    ])
    const ids = found.items.map(({ id }) => id)
    const [administrators = 0, others = 0] = totals
    const content = {
      ...found,
      state,
      counts: { administrators, developers: others },
      projects: await storage.listings.projectNames(ids),
      lastUses: await activity.lastUses(ids),
      invitations: invitations.length,
      nowMs,
    }
    return { page: developersPage(request, content) }
  }

  async function showPerson(
    request: DeveloperRequest,
    person: Developer,
    newLink?: NewLink,
  ): Promise<PortalResponse> {
    const filter = { ownerId: person.id, limit: shownProjects, offset: 0 }
    const [{ items }, lastUses] = await Promise.all([
      storage.listings.projects(filter),
      activity.lastUses([person.id]),
    ])
    const projects = items.map(({ project }) => project)
    const owned = await developers.projectIds(person.id)
    const owners = await storage.listings.owners(owned)
    const alone = owned.filter((id) => owners.get(id)?.length === 1).slice(0, namedProjects + 1)
    const orphaned = await Promise.all(alone.map(async (id) => (await storage.projects.find(id))?.name ?? ''))
    const content = { person, projects, orphaned, lastUses, nowMs: clock.now(), newLink, localPasswords }
    return { page: developerPage(request, content) }
  }

  async function showInvitations(
    request: DeveloperRequest,
    more: Pick<InvitationsContent, 'newLink' | 'state'> = {},
  ): Promise<PortalResponse> {
    const nowMs = clock.now()
    const invitations = await developers.invitations(nowMs)
    return { page: invitationsPage(request, { invitations, nowMs, ...more }) }
  }

  async function developerInUrl(request: DeveloperRequest): Promise<Developer> {
    const all = await developers.list()
    const developer = all.find(({ id }) => id === request.params['developerId'])
    if (!developer) throw new PortalError('not_found')
    return developer
  }

  get(patterns.developers, async (request) => {
    return show(request)
  })

  get(patterns.person, async (request) => showPerson(request, await developerInUrl(request)))

  get(patterns.invitations, async (request) => {
    return showInvitations(request)
  })

  post(patterns.invitations, async (request) => {
    const parsed = parseForm(invitationForm, request.form)
    if (!parsed.data) return { ...(await showInvitations(request, { state: parsed.state })), status: 422 }
    const { name } = parsed.data
    const { token } = await perform(actorOf(request), (act) =>
      inviteDeveloper(act, { administrator: false, name }),
    )
    const link = `${request.baseUrl}${portalLinks.join(token)}`
    return showInvitations(request, {
      newLink: { title: `Send this link to ${name}`, link, lifetime: '7 days' },
    })
  })

  post(patterns.invitationWithdrawal, async (request) => {
    await perform(actorOf(request), (act) => withdrawInvitation(act, request.params.hash))
    return { redirectTo: request.paths.invitations, notice: 'invitation_withdrawn' }
  })

  post(patterns.passwordLink, async (request) => {
    const developer = await developerInUrl(request)
    const token = await perform(actorOf(request), (act) => createPasswordLink(act, developer))
    const link = `${request.baseUrl}${portalLinks.newPassword(token)}`
    const newLink = { title: `Send this link to ${developer.name}`, link, lifetime: '15 minutes' }
    return showPerson(request, developer, newLink)
  })

  post(patterns.developerBlock, async (request) => {
    const developer = await developerInUrl(request)
    await keepAdministrator(perform(actorOf(request), (act) => blockDeveloper(act, developer)))
    return { redirectTo: request.paths.person(developer.id), notice: 'developer_blocked' }
  })

  post(patterns.developerRemoval, async (request) => {
    const developer = await developerInUrl(request)
    await keepAdministrator(perform(actorOf(request), (act) => removeDeveloper(act, developer)))
    return { redirectTo: request.paths.developers, notice: 'developer_removed' }
  })

  post(patterns.role, async (request) => {
    const developer = await developerInUrl(request)
    const by = actorOf(request)
    // As the page showed it: a form that is sent twice changes it once.
    if (request.form['administrator'] === 'yes') {
      await perform(by, (act) => promoteDeveloper(act, developer))
      return { redirectTo: request.paths.developers, notice: 'developer_promoted' }
    }
    await keepAdministrator(perform(by, (act) => demoteDeveloper(act, developer)))
    const isSelf = developer.id === request.developer.id
    return {
      redirectTo: isSelf ? request.paths.projects : request.paths.developers,
      notice: 'developer_demoted',
    }
  })
}

async function keepAdministrator(change: Promise<void>): Promise<void> {
  try {
    await change
  } catch (error) {
    throw error instanceof LastAdministrator ? new PortalError('last_administrator') : error
  }
}

/** A link that the administrator sends to somebody. */
interface NewLink {
  readonly title: string
  readonly link: string
  /** Such as `7 days`. */
  readonly lifetime: string
}

const peopleFacets = { administrators: 'Administrators', developers: 'Developers' } as const
const peopleOrders = ['name', '-name', '-created', 'created'] as const

interface DevelopersContent extends ListPage<Developer> {
  readonly state: ListState
  /** How many match the search. */
  readonly counts: Readonly<Record<'administrators' | 'developers', number>>
  /** The names of the projects that each of them owns. */
  readonly projects: ReadonlyMap<string, readonly string[]>
  /** Their last log-ins. */
  readonly lastUses: LastUses
  /** How many can still be used. */
  readonly invitations: number
  readonly nowMs: number
}

function developersPage(request: DeveloperRequest, content: DevelopersContent): PageContent {
  const { items, total, state, counts, invitations } = content
  const { paths } = request
  const facets = Object.entries(peopleFacets) as [keyof typeof peopleFacets, string][]
  const body = html`${peopleTabs(request, 'people', invitations)}
  ${list(columns(request, content), items, {
    label: 'People',
    browsing: {
      path: paths.developers,
      state,
      total,
      noun: 'people',
      search: 'Name',
      orders: [
        ['name', 'Name'],
        ['-created', 'Joined'],
      ],
      facets: [
        { id: '', label: 'All', count: counts.administrators + counts.developers },
        ...facets.map(([id, label]) => ({ id, label, count: counts[id] })),
      ],
    },
  })}`
  return { title: 'People', body, actions: inviteButton(request) }
}

interface InvitationsContent {
  readonly invitations: readonly Invitation[]
  readonly newLink?: NewLink | undefined
  /** Of the form, if it was not complete. */
  readonly state?: FormState | undefined
  readonly nowMs: number
}

/** Those that can still be used. The links themselves are not stored. */
function invitationsPage(
  request: DeveloperRequest,
  { invitations, newLink, state, nowMs }: InvitationsContent,
): PageContent {
  const { paths, csrfToken } = request
  const columns: readonly Column<Invitation>[] = [
    {
      label: 'For',
      kind: 'name',
      cell: ({ name, administrator }) =>
        named({
          name: name ?? (administrator ? 'The first administrator' : 'A developer'),
          below: administrator && name !== undefined ? 'Administrator' : undefined,
        }),
    },
    { label: 'Expires', kind: 'time', cell: ({ expiresAtMs }) => relativeTime(expiresAtMs, nowMs) },
    {
      label: 'Withdraw',
      kind: 'end',
      cell: ({ hash, name = 'a developer' }) =>
        html`<form method="post" action="${paths.invitationWithdrawal(hash)}">
          ${csrfInput(csrfToken)}<button class="small outline">
            Withdraw<span class="visually-hidden"> the invitation of ${name}</span>
          </button>
        </form>`,
    },
  ]
  const body = html`${peopleTabs(request, 'invitations', invitations.length)}
  ${newLink === undefined ? '' : linkNotice(newLink)}
  ${
    state === undefined
      ? ''
      : html`<form method="post" action="${paths.invitations}" class="card form">
          ${csrfInput(csrfToken)} ${invitationField(state)}<button>Create link</button>
        </form>`
  }
  ${list(columns, invitations, {
    label: 'Open invitations',
    empty: html`<div class="empty">
      <h2>No open invitations</h2>
      <p class="muted">A link that you send to somebody makes them a developer, once and within 7 days.</p>
    </div>`,
  })}`
  const actions = state === undefined ? inviteButton(request) : undefined
  return { title: 'Invitations', body, actions, section: paths.developers }
}

const invitationField = (state: FormState) =>
  field({ name: 'name', label: 'For', hint: 'A name or an address, to recognise the invitation.' }, state)

function inviteButton({ paths, csrfToken }: DeveloperRequest): SafeHtml {
  return dialog({
    id: 'invite',
    label: 'Invite developer',
    style: '',
    title: 'Invite a developer',
    body: html`<p>You get a link to send to them. It works once, within 7 days.</p>
      ${invitationField(emptyForm)}`,
    action: paths.invitations,
    confirm: 'Create link',
    csrfToken,
  })
}

function peopleTabs(
  { paths }: DeveloperRequest,
  current: 'people' | 'invitations',
  invitations: number,
): SafeHtml {
  const tab = (id: string, href: string, label: SafeHtml | string) =>
    html`<li><a href="${href}" ${id === current ? html`aria-current="page"` : ''}>${label}</a></li>`
  return html`<nav class="page-tabs" aria-label="People">
    <ul>
      ${tab('people', paths.developers, 'People')}
      ${tab('invitations', paths.invitations, html`Invitations <span class="number muted">${formatCount(invitations)}</span>`)}
    </ul>
  </nav>`
}

function linkNotice({ title, link, lifetime }: NewLink): SafeHtml {
  return html`<section class="notice" data-variant="warning" aria-labelledby="link-title">
    <h2 id="link-title">${title}</h2>
    <p>The link works only once and expires after ${lifetime}. It is not shown again.</p>
    ${copyable({ id: 'link', value: link, what: 'link' })}
  </section>`
}

function columns(
  request: DeveloperRequest,
  { projects, lastUses, nowMs }: DevelopersContent,
): readonly Column<Developer>[] {
  return [
    {
      label: 'Name',
      kind: 'name',
      order: 'name',
      cell: ({ id, name }) =>
        named({
          name,
          href: request.paths.person(id),
          below: id === request.developer.id ? 'You' : undefined,
        }),
    },
    {
      label: 'Role',
      kind: 'role',
      cell: ({ administrator }) => (administrator ? 'Administrator' : 'Developer'),
    },
    {
      label: 'Projects',
      kind: 'text',
      leaves: 2,
      cell: ({ id }) => {
        const own = projects.get(id) ?? []
        return own.length === 0 ? absent() : names(own)
      },
    },
    { label: 'Last log-in', kind: 'time', leaves: 1, cell: ({ id }) => lastUse(id, lastUses, nowMs) },
    {
      label: 'Joined',
      kind: 'time',
      leaves: 3,
      order: '-created',
      cell: ({ createdAtMs }) => relativeTime(createdAtMs, nowMs),
    },
  ]
}

interface DeveloperContent {
  readonly person: Developer
  readonly projects: readonly Project[]
  /** The projects that nobody else owns: the first ones. */
  readonly orphaned: readonly string[]
  readonly lastUses: LastUses
  readonly nowMs: number
  readonly newLink?: NewLink | undefined
  readonly localPasswords: boolean
}

/** One of the people: what they own, and what an administrator can change. */
function developerPage(
  request: DeveloperRequest,
  { person, projects, orphaned, lastUses, nowMs, newLink, localPasswords }: DeveloperContent,
): PageContent {
  const { paths } = request
  const { id, name, administrator, createdAtMs } = person
  const body = html`${newLink === undefined ? '' : linkNotice(newLink)}
    <dl class="pairs">
      <div>
        <dt>Role</dt>
        <dd>${administrator ? 'Administrator' : 'Developer'}</dd>
      </div>
      <div>
        <dt>Last log-in</dt>
        <dd>${lastUse(id, lastUses, nowMs)}</dd>
      </div>
      <div>
        <dt>Joined</dt>
        <dd>${relativeTime(createdAtMs, nowMs)}</dd>
      </div>
    </dl>
    <section aria-labelledby="projects">
      <h2 id="projects">Projects</h2>
      ${list<Project>(
        [
          {
            label: 'Project',
            kind: 'name',
            cell: (project) =>
              named({
                name: project.name,
                href: paths.project(project.id),
                below: project.organizationName,
              }),
          },
          {
            label: 'Created',
            kind: 'time',
            cell: (project) => relativeTime(project.createdAtMs, nowMs),
          },
        ],
        projects,
        { label: 'Projects', empty: html`<p class="muted">${name} owns no project.</p>` },
      )}
    </section>
    ${dangerSection('Role, access and removal', actionsOn(request, person, { withPassword: hasPassword(person, localPasswords), orphaned }))}`
  const actions = html`<a class="button outline" href="${linkTo(paths.audit, { q: name })}">Audit log</a>`
  return { title: name, body, actions, trail: [['People', paths.developers]], section: paths.developers }
}

function actionsOn(
  { paths, csrfToken }: DeveloperRequest,
  { id, name, administrator }: Developer,
  { withPassword, orphaned }: { readonly withPassword: boolean; readonly orphaned: readonly string[] },
): DangerRow[] {
  const named = orphaned.slice(0, namedProjects).join(', ')
  const noOwner =
    orphaned.length === 0
      ? ''
      : ` Nobody else owns ${named}${orphaned.length > namedProjects ? ' and others' : ''}: only administrators will have access.`
  return [
    {
      title: administrator ? 'Make a developer' : 'Make an administrator',
      text: administrator
        ? 'Developers see their own projects only.'
        : 'Administrators see every project, approve applications and manage people.',
      button: dialog({
        id: 'role',
        label: html`${administrator ? 'Demote' : 'Promote'}<span class="visually-hidden"> ${name}</span>`,
        title: administrator ? `Make ${name} a developer?` : `Make ${name} an administrator?`,
        body: html`<input type="hidden" name="administrator" value="${administrator ? 'no' : 'yes'}" />
          <p>
            ${
              administrator
                ? `${name} will keep their own projects, but can no longer approve applications or manage people. Links that they created stop working.`
                : `${name} will see every project, approve applications, and manage people, products and resource servers.`
            }
          </p>`,
        action: paths.role(id),
        confirm: administrator ? 'Demote to developer' : 'Promote to administrator',
        csrfToken,
        danger: administrator,
      }),
    },
    {
      title: withPassword ? 'Reset the password' : 'Create a log-in link',
      text: withPassword
        ? 'The current password works until the link is used.'
        : 'The link works once, for 15 minutes.',
      button: dialog({
        id: 'password',
        label: withPassword
          ? html`Reset<span class="visually-hidden"> the password of ${name}</span>`
          : html`Create<span class="visually-hidden"> a log-in link for ${name}</span>`,
        title: withPassword ? `Reset the password of ${name}` : `Create a log-in link for ${name}`,
        body: html`<p>
          You get a link to send to ${name}, who can then
          ${
            withPassword
              ? 'set a new password. The current password works until then.'
              : 'log in with it, once.'
          }
        </p>`,
        action: paths.passwordLink(id),
        confirm: 'Create link',
        csrfToken,
      }),
    },
    {
      title: 'End sessions and block the password',
      text: 'For a device that was lost or stolen: it can do nothing any more, at once.',
      button: dialog({
        id: 'block',
        label: html`Block<span class="visually-hidden"> the access of ${name}</span>`,
        title: `End the sessions of ${name} and block the password?`,
        body: html`<p>
          ${name} is logged out everywhere, and the password and the links that ${name} created stop working.
          ${name} can log in again with a link that you create
          here${withPassword ? '' : ', or through the OpenID provider'}.
        </p>`,
        action: paths.developerBlock(id),
        confirm: 'End sessions and block',
        csrfToken,
        danger: true,
      }),
    },
    {
      title: 'Remove',
      text: 'Their projects and applications are kept.',
      button: dialog({
        id: 'remove',
        label: html`Remove<span class="visually-hidden"> ${name}</span>`,
        title: `Remove ${name}?`,
        body: html`<p>
          ${name} will be logged out and can no longer log in. Their projects are kept, and the applications
          continue to get tokens.${noOwner}
        </p>`,
        action: paths.developerRemoval(id),
        confirm: 'Remove developer',
        csrfToken,
        danger: true,
      }),
    },
  ]
}
