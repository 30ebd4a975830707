import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import {
  changeSettings,
  createApplication,
  deleteApplication,
  moveApplication,
  restoreApplication,
} from './acts.ts'
import { listingStorage, type CurrentFailure, type ListedStatus } from '../search/listings.ts'
import { applicationStorage } from './storage.ts'
import type { Act } from '../../storage/act.ts'
import { AlreadySubmitted, createOnce } from '../../storage/submission-storage.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { newApplicationPage, settingsPage } from './form-pages.ts'
import {
  type Offered,
  type SettingsContent,
  applicationFormState,
  catalogueFacts,
  newApplication,
  parseApplicationForm,
  sentForm,
  settingsList,
} from './application-form.ts'
import { applicationFrame } from './application-frame.ts'
import {
  type ApplicationTableContent,
  applicationColumns,
  applicationOrders,
  listApplications,
} from './application-table.ts'
import { describeOutcome, summarizeUsage, type Usage, usageChart, usageRanges, usageStart } from './usage.ts'
import { secretPage } from '../credentials/secret-page.ts'
import { type Column, type Facet, type ListState, list, listState, state } from '../../portal/layout/list.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { formatCount, linkTo, partOf } from '../../portal/layout/paging.ts'
import { seenRevision, withSeenRevision } from '../../portal/layout/form.ts'
import { deletionForm, submissionForm } from '../../portal/layout/parse-form.ts'
import { tokenSnippets } from '../../portal/layout/snippets.ts'
import { type LastUses, lastUse, relativeTime, time, timeSince } from '../../portal/layout/time.ts'
import { startPage } from '../overview/start-page.ts'
import { developerPages, type DeveloperRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { UsageError } from '../../runtime/usage-error.ts'
import { pickerOf, readChoice } from '../search/choices.ts'
import { findOwnProject, ownClient, ownerIdOf } from '../projects/own-projects.ts'
import type { PortalService } from '../sessions/openid-provider.ts'
import { actorOf } from '../sessions/session.ts'
import type { TokenRequestEntry, TokenRequestOutcome } from '../../storage/activity-storage.ts'
import type { Application, RegisteredClient } from '../../storage/application.ts'

const maxApplications = 100
const maxPending = 20
// The latest ones, among which the result is searched for.
const readRequests = 1_000
const week = usageRanges[1]

/** The product and the scope that the listed applications have, if the URL says so. */
function havingOf({ product, scope }: RawParameters): Having {
  return {
    ...(typeof product === 'string' && product !== '' && { product }),
    ...(typeof scope === 'string' && scope !== '' && { scope }),
  }
}

export async function applicationPages(portal: FastifyInstance, service: PortalService): Promise<void> {
  const { get, post } = developerPages(portal)
  const { storage, perform, activity, clock } = service

  /** The catalogues, and what the application has. */
  async function offered(application?: Application): Promise<Offered> {
    const [products, scopes] = await Promise.all([storage.products.list(), storage.scopes.list()])
    return {
      products: [...new Set([...products.map(({ name }) => name), ...(application?.products ?? [])])],
      scopes: [...new Set([...scopes.map(({ name }) => name), ...(application?.scopes ?? [])])],
      hints: catalogueFacts(products, scopes),
    }
  }

  /** With the projects that the application can be moved to. */
  async function withOtherProjects(request: DeveloperRequest, content: SettingsContent) {
    return { ...content, projects: await pickerOf(storage, request, 'projects') }
  }

  get(patterns.newApplication, async (request) => {
    const chosen = String(request.query['project'] ?? '')
    const project = chosen === '' ? undefined : await findOwnProject(storage, request, chosen)
    const projects = await pickerOf(storage, request, 'projects')
    const [first, ...others] = projects.suggestions
    if (first === undefined) return { redirectTo: request.paths.newProject }
    const only = others.length === 0 ? first.text : ''
    const state = applicationFormState(newApplication)
    const values = { ...state.values, project: project?.name ?? only }
    return {
      page: newApplicationPage(request, {
        projects,
        ...(await offered()),
        state: { ...state, values },
        submissionId: randomUUID(),
      }),
    }
  })

  post(patterns.newApplication, async (request) => {
    const { developer, paths, form } = request
    const id = submissionForm.safeParse(form).data?.submission_id
    if (id === undefined) throw new PortalError('invalid_form')
    const choices = await offered()
    const parsed = parseApplicationForm(form, choices)
    const chosenProject = await readChoice(storage, request, 'projects', form['project'])
    if (!parsed.data || 'error' in chosenProject) {
      const errors = {
        ...('error' in chosenProject && { project: chosenProject.error }),
        ...(parsed.data ? {} : parsed.state.errors),
      }
      const values = {
        ...sentForm(form).values,
        ...('text' in chosenProject && { project: chosenProject.text }),
      }
      const state = { ...sentForm(form), values, errors }
      const projects = await pickerOf(storage, request, 'projects', values['project'])
      return {
        page: newApplicationPage(request, { projects, ...choices, state, submissionId: id }),
        status: 422,
      }
    }
    const project = await findOwnProject(storage, request, chosenProject.id)
    const status = developer.administrator ? 'approved' : 'pending'
    try {
      const { note, ...chosen } = parsed.data
      const review = status === 'pending' && note !== '' ? { review: { note } } : {}
      const details = { ...chosen, ...review, projectId: project.id, status } as const
      const { application, clientSecret } = await perform(actorOf(request, project.id), (act) =>
        createOnce(act, id, async () => {
          await rejectTooMany(act, details, developer.id)
          return createApplication(act, details)
        }),
      )
      if (form['from'] === 'start') {
        const client = { application, project, secrets: [], scopeAudiences: new Map() }
        const content = { project, client, hasToken: false, ...choices, submissionId: id, clientSecret }
        return { page: startPage(request, content) }
      }
      return { page: secretPage(request, { application, project, clientSecret }) }
    } catch (error) {
      // The page was reloaded: the secret was shown already.
      if (!(error instanceof AlreadySubmitted)) throw error
      return { redirectTo: paths.application(project.id, error.createdId) }
    }
  })

  get(patterns.applications, async (request) => {
    const facets = Object.keys(applicationFacets) as (keyof typeof applicationFacets)[]
    const state = listState(request.query, { orders: applicationOrders, facets })
    const { search, facet, order, limit, offset } = state
    const having = havingOf(request.query)
    const filter = { ...having, search, ownerId: ownerIdOf(request), nowMs: clock.now() }
    const [part, counts] = await Promise.all([
      listApplications(service, { ...filter, limit, offset, order, status: facet || undefined }),
      storage.listings.applicationCounts(filter),
    ])
    return { page: applicationsPage(request, { ...part, having, state, counts }) }
  })

  get(patterns.application, async (request) => {
    const client = await ownClient(storage, request)
    const nowMs = clock.now()
    const { id, clientId } = client.application
    const range = usageRanges.find((each) => each.id === request.query['range']) ?? usageRanges[0]
    // Called first, because it writes what is pending.
    const lastUses = await activity.lastUses([id])
    const entries = await storage.activity.usage(clientId, usageStart(range, nowMs))
    const usage = summarizeUsage(entries, range, nowMs)
    const failure = (await storage.listings.currentFailures([clientId])).get(clientId)
    return { page: applicationPage(request, { client, usage, lastUses, failure, nowMs }) }
  })

  get(patterns.requests, async (request) => {
    const client = await ownClient(storage, request)
    const nowMs = clock.now()
    const { clientId } = client.application
    await activity.flush()
    const [entries, requests] = await Promise.all([
      storage.activity.usage(clientId, usageStart(week, nowMs)),
      storage.activity.requests(clientId, readRequests),
    ])
    const usage = summarizeUsage(entries, week, nowMs)
    const outcomes = ['issued' as const, ...usage.failures.map(([each]) => each)]
    const state = listState(request.query, { orders: ['time'], facets: outcomes })
    const outcome = state.facet || undefined
    const found = requests.filter((each) => outcome === undefined || each.outcome === outcome)
    const content = {
      client,
      usage,
      requests: partOf(found, state),
      total: found.length,
      state,
      outcome,
    }
    return { page: requestsPage(request, content) }
  })

  get(patterns.settings, async (request) => {
    const client = await ownClient(storage, request)
    const { application } = client
    const state = applicationFormState({ ...application, ...application.requested })
    const content = { ...(await offered(application)), state }
    return { page: settingsPage(request, client, await withOtherProjects(request, content)) }
  })

  post(patterns.settings, async (request) => {
    const client = await ownClient(storage, request)
    const choices = await offered(client.application)
    const parsed = parseApplicationForm(request.form, choices)
    if (!parsed.data) {
      const state = withSeenRevision(parsed.state, request.form)
      const content = await withOtherProjects(request, { ...choices, state })
      return { page: settingsPage(request, client, content), status: 422 }
    }
    const byAdministrator = request.developer.administrator
    const { id, clientId } = client.application
    const { note, ...settings } = parsed.data
    const seen = seenRevision(request.form)
    await perform(actorOf(request), (act) =>
      changeSettings(act, client.application, settings, { byAdministrator, note, seen }),
    )
    const changed = await storage.applications.findClient(clientId)
    const isRequested =
      changed?.application.requested ?? client.application.status !== changed?.application.status
    const notice = isRequested ? 'changes_requested' : 'application_changed'
    return { redirectTo: request.paths.application(client.project.id, id), notice }
  })

  post(patterns.move, async (request) => {
    const { application } = await ownClient(storage, request)
    const to = await readChoice(storage, request, 'projects', request.form['project'])
    if ('error' in to) throw new UsageError(to.error)
    const { administrator } = request.developer
    await perform(actorOf(request, to.id), (act) => moveApplication(act, application, to.id, administrator))
    return { redirectTo: request.paths.application(to.id, application.id), notice: 'application_moved' }
  })

  post(patterns.deletion, async (request) => {
    const { application, project } = await ownClient(storage, request)
    const { data } = deletionForm.safeParse(request.form)
    if (!data) throw new PortalError('invalid_form')
    const by = actorOf(request)
    const { administrator } = request.developer
    const redirectTo = request.paths.application(project.id, application.id)
    if (data.decision === 'restore') {
      await perform(by, (act) => restoreApplication(act, application, administrator))
      return { redirectTo, notice: 'application_restored' }
    }
    await perform(by, (act) => deleteApplication(act, application, administrator))
    return { redirectTo, notice: 'application_deleted' }
  })
}

/** Counted in the act itself, so that requests at the same time do not exceed a limit together. */
async function rejectTooMany(
  act: Act,
  { projectId, status }: Pick<Application, 'projectId' | 'status'>,
  ownerId: string,
): Promise<void> {
  if ((await applicationStorage(act).list(projectId)).length >= maxApplications)
    throw new PortalError('too_many_applications')
  if (status !== 'pending') return
  const { total } = await listingStorage(act).applications({ ownerId, status, limit: 0, offset: 0 })
  if (total >= maxPending) throw new PortalError('too_many_pending')
}

/** What the list can be narrowed down to: first that which somebody has to look at. */
const applicationFacets = {
  failing: 'Failing now',
  pending: 'Pending',
  changes: 'Changes requested',
  expiring: 'Secret expires soon',
  unused: 'Unused for 90 days',
  approved: 'Approved',
  revoked: 'Revoked',
  declined: 'Declined',
  deleted: 'Deleted',
} as const satisfies Partial<Record<ListedStatus, string>>

/** What the applications of a list have, besides what it was narrowed down to. */
interface Having {
  readonly product?: string
  readonly scope?: string
}

interface ApplicationsContent extends ApplicationTableContent {
  readonly having: Having
  readonly state: ListState
  readonly total: number
  /** How many match the search, by facet. */
  readonly counts: Readonly<Record<ListedStatus | 'all', number>>
}

/** Every application that the developer may see. */
function applicationsPage(request: DeveloperRequest, content: ApplicationsContent): PageContent {
  const { paths } = request
  const { having, state, total, counts, clients } = content
  const names = Object.entries(applicationFacets) as [keyof typeof applicationFacets, string][]
  const facets: Facet[] = [
    { id: '', label: 'All', count: counts.all },
    ...names
      .map(([id, label]) => ({ id, label, count: counts[id] }))
      .filter(({ id, count }) => count > 0 || id === state.facet),
  ]
  const [kind, name] = Object.entries(having)[0] ?? []
  const listed = list(applicationColumns(request, content, { project: true }), clients, {
    label: 'Applications',
    browsing: {
      path: paths.applications,
      state,
      total,
      noun: 'applications',
      search: 'Name, project, owner, product or client ID',
      orders: [
        ['-used', 'Last used'],
        ['name', 'Name'],
        ['-created', 'Created'],
        ['failures', 'Failures, 24 hours'],
      ],
      facets,
      query: { ...having },
    },
    empty:
      kind === undefined
        ? html`<div class="empty">
            <h2>No applications</h2>
            <p class="muted">Each program that calls APIs has its own client ID and secrets.</p>
            <p><a class="button" href="${paths.start}">Get your first token</a></p>
          </div>`
        : undefined,
  })
  const body = html`${
    kind === undefined
      ? ''
      : html`<p>
          Only applications with the ${kind} <strong>${name}</strong>.
          <a href="${paths.applications}">Show all applications</a>
        </p>`
  }${listed}`
  const actions = html`<a class="button" href="${paths.newApplication}">New application</a>`
  return { title: 'Applications', body, actions }
}

interface ApplicationContent {
  readonly client: RegisteredClient
  readonly usage: Usage
  readonly lastUses: LastUses
  readonly failure: CurrentFailure | undefined
  readonly nowMs: number
}

/** The overview of an application: is it working, and with which settings. */
function applicationPage(request: DeveloperRequest, content: ApplicationContent): PageContent {
  const { client, usage, lastUses, failure, nowMs } = content
  const { application, project } = client
  const { id, clientId, lifetimeSeconds } = application
  const { paths, baseUrl } = request
  const usedAtMs = lastUses.get(id)
  const body = html`${failure === undefined ? '' : failureNotice(request, client, failure, nowMs)}
    <section aria-labelledby="usage">${usageChart(usage, paths.application(project.id, id))}</section>
    <section aria-labelledby="token">
      <h2 id="token">Latest token</h2>
      ${
        usedAtMs === undefined
          ? html`<p class="muted">The application has not received a token yet.</p>`
          : html`<p>
              ${well((usedAtMs - nowMs) / lifetimeSeconds / 1000 + 1)} Requested
              ${lastUse(id, lastUses, nowMs)}. ${expiry(usedAtMs + lifetimeSeconds * 1000, nowMs)}
            </p>`
      }
    </section>
    <section aria-labelledby="request">
      <h2 id="request">Request a token</h2>
      <p>
        Replace <code>YOUR_CLIENT_SECRET</code>. If you do not have the secret any more, create a new one with
        the <a href="${paths.credentials(project.id, id)}">credentials</a>. Or
        <a href="${linkTo(paths.reference, { client: clientId })}#getAccessToken">try it</a> from here,
        without a secret.
      </p>
      ${tokenSnippets({ baseUrl, clientId, clientSecret: 'YOUR_CLIENT_SECRET' })}
    </section>
    <section aria-labelledby="settings">
      <div class="bar">
        <h2 id="settings">Settings</h2>
        <div class="actions"><a href="${paths.settings(project.id, id)}">Change</a></div>
      </div>
      ${settingsList(application)}
    </section>`
  return applicationFrame(request, client, 'application', body)
}

/** Why it gets no tokens now, and what to do about it. */
function failureNotice(
  { paths }: DeveloperRequest,
  { application, project }: RegisteredClient,
  { outcome, sinceMs }: CurrentFailure,
  nowMs: number,
): SafeHtml {
  const { label, help } = describeOutcome(outcome)
  const since = timeSince(sinceMs, nowMs)
  return html`<div class="notice" data-variant="danger">
    <p>
      <strong>Failing ${since ? html`for ${since}` : 'now'}: ${label}.</strong> ${help}
      <a href="${linkTo(paths.requests(project.id, application.id), { show: outcome })}">Show the requests</a>
    </p>
  </div>`
}

/** The remaining part of a lifetime, from 0 to 1, as the water in a well. The text beside it says the same. */
function well(remaining: number): SafeHtml {
  const level = Math.min(Math.max(remaining, 0), 1) * 12
  return html`<svg class="well" viewBox="0 0 20 20" aria-hidden="true">
    <rect x="5" y="${16 - level}" width="10" height="${level}" />
    <path d="M4 3v13a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1V3" />
  </svg>`
}

function expiry(expiresAtMs: number, nowMs: number): SafeHtml {
  return html`${expiresAtMs <= nowMs ? 'Expired' : 'Expires'} ${relativeTime(expiresAtMs, nowMs)}.`
}

interface RequestsContent {
  readonly client: RegisteredClient
  /** A part of the latest ones with that result, and how many there are. */
  readonly requests: readonly TokenRequestEntry[]
  readonly total: number
  readonly state: ListState
  /** Of the last 7 days, for the reasons of failures. */
  readonly usage: Usage
  readonly outcome: TokenRequestOutcome | undefined
}

/** The latest token requests of an application, and why some have failed. */
function requestsPage(request: DeveloperRequest, content: RequestsContent): PageContent {
  const { client, usage, outcome } = content
  const { application, project } = client
  const path = request.paths.requests(project.id, application.id)
  const choices = [
    [undefined, 'All', usage.issued + usage.failed],
    ['issued', describeOutcome('issued').label, usage.issued],
    ...usage.failures.map(
      ([failure, requests]) => [failure, describeOutcome(failure).label, requests] as const,
    ),
  ] as const
  const facets = choices.map(([each, label, count]) => ({ id: each ?? '', label, count }))
  const body = html`${
    outcome === undefined || outcome === 'issued'
      ? ''
      : html`<p class="notice">${describeOutcome(outcome).help}</p>`
  }
  ${list(columns, content.requests, {
    label: 'Latest token requests',
    browsing: { path, state: content.state, total: content.total, noun: 'entries', facets },
    empty: html`<p class="muted">No token request in the last 7 days.</p>`,
  })}`
  return applicationFrame(request, client, 'requests', body)
}

const columns: readonly Column<TokenRequestEntry>[] = [
  {
    label: 'Result',
    kind: 'name',
    cell: ({ outcome }) => state(outcome === 'issued' ? 'success' : 'danger', describeOutcome(outcome).label),
  },
  {
    label: 'Address',
    kind: 'text',
    leaves: 1,
    cell: ({ address }) => html`<code class="cut">${address}</code>`,
  },
  { label: 'Requests', kind: 'number', leaves: 2, cell: ({ count }) => formatCount(count) },
  { label: 'Time', kind: 'date', cell: ({ atMs }) => time(atMs) },
]
