import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import type { CurrentFailure, ExpiringSecret, FailureTotal, ListPage } from '../search/listings.ts'
import { catalogueFacts } from '../applications/application-form.ts'
import {
  describeOutcome,
  successRate,
  summarizeUsage,
  type Usage,
  usageFigure,
  usageLegend,
  usageRanges,
  usageStart,
} from '../applications/usage.ts'
import { type AuditSentence, createAuditSentences, eventGroups } from '../audit/audit-events.ts'
import { expiryBadge } from '../credentials/credentials-section.ts'
import { type Column, type Facet, type ListState, list, listState, named } from '../../portal/layout/list.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { formatCount, formatShortCount, linkTo } from '../../portal/layout/paging.ts'
import { relativeTime, relativeTimeOrNever, timeSince } from '../../portal/layout/time.ts'
import { type StartContent, startPage } from './start-page.ts'
import { developerPages, type DeveloperRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { joinedProjects, ownerIdOf } from '../projects/own-projects.ts'
import type { PortalService } from '../sessions/openid-provider.ts'
import { expiresSoonMs, type Project, type RegisteredClient } from '../../storage/application.ts'

const shownRows = 5
const dayMs = 86_400_000
const longestExpiryDays = expiresSoonMs / dayMs
const month = usageRanges[2]
/** What administrators want to know of: everything but log-ins and rejected requests. */
const changeEvents = Object.entries(eventGroups).flatMap(([name, [, events]]): readonly string[] =>
  name === 'sessions' || name === 'rejections' ? [] : events,
)

/** The overview, and the steps to the first token. */
export async function overviewPages(
  portal: FastifyInstance,
  { storage, activity, clock }: PortalService,
): Promise<void> {
  const { get } = developerPages(portal)
  async function progress(all: readonly Project[]): Promise<StartContent> {
    const projects = all.filter(({ deletesAtMs }) => deletesAtMs === undefined)
    await activity.flush()
    const id = await storage.applications.firstOf(projects.map((project) => project.id))
    const client = id === undefined ? undefined : await storage.applications.find(id)
    const lastUses = await activity.lastUses(id === undefined ? [] : [id])
    const [products, scopes] = await Promise.all([storage.products.list(), storage.scopes.list()])
    return {
      project: client?.project ?? projects[0],
      client,
      hasToken: lastUses.size > 0,
      products: products.map(({ name }) => name),
      scopes: scopes.map(({ name }) => name),
      hints: catalogueFacts(products, scopes),
      submissionId: randomUUID(),
    }
  }

  get(patterns.root, async (request) => {
    const { developer, paths, notice } = request
    await activity.flush()
    const { listings } = storage
    const ownerId = ownerIdOf(request)
    if (!(await listings.hasToken(ownerId))) return { redirectTo: paths.start, notice }
    const nowMs = clock.now()
    const [totals, applications, pending, expiring, failing, failures, changes] = await Promise.all([
      listings.usageTotals(usageStart(month, nowMs), ownerId),
      listings.applications({ ownerId, limit: 0, offset: 0 }),
      developer.administrator
        ? listings.awaitingCount()
        : listings
            .applications({ ownerId, status: 'pending', limit: 0, offset: 0 })
            .then(({ total }) => total),
      listings.expiringSecrets([nowMs, nowMs + expiresSoonMs], { ownerId, limit: shownRows, offset: 0 }),
      listings.applications({
        ownerId,
        status: 'failing',
        order: 'failures',
        limit: shownRows,
        offset: 0,
        nowMs,
      }),
      listings.topFailures(nowMs - dayMs, shownRows, ownerId),
      developer.administrator ? storage.audit.list(shownRows, { events: changeEvents }) : [],
    ])
    const current = await listings.currentFailures(
      failing.items.map(({ application }) => application.clientId),
    )
    const content = {
      usage: summarizeUsage(totals, month, nowMs),
      applications: applications.total,
      pending,
      expiring: expiring.items,
      failing: { ...failing, current },
      failures,
      changes: await createAuditSentences(storage, paths, changes),
      nowMs,
    }
    return { page: overviewPage(request, content) }
  })

  get(patterns.expiringSecrets, async (request) => {
    const periods = Object.keys(expiryPeriods) as (keyof typeof expiryPeriods)[]
    const state = listState(request.query, { orders: ['expires'], facets: periods })
    const nowMs = clock.now()
    await activity.flush()
    const read = (days: string, limit: number, offset: number) =>
      storage.listings.expiringSecrets([nowMs, nowMs + (Number(days) || longestExpiryDays) * dayMs], {
        ownerId: ownerIdOf(request),
        limit,
        offset,
      })
    const [found, ...totals] = await Promise.all([
      read(state.facet, state.limit, state.offset),
      ...['', ...periods].map(async (days) => [days, (await read(days, 0, 0)).total] as const),
    ])
    return { page: expiringSecretsPage(request, { ...found, state, counts: new Map(totals), nowMs }) }
  })

  // An administrator sees every project, but takes the steps in their own.
  get(patterns.start, async (request) => ({
    page: startPage(request, await progress(await joinedProjects(storage, request))),
  }))
}

interface OverviewContent {
  /** Of all applications that the developer may see. */
  readonly usage: Usage
  readonly applications: number
  /** For administrators: to decide on. For developers: their own that wait. */
  readonly pending: number
  readonly expiring: readonly ExpiringSecret[]
  readonly failing: ListPage<RegisteredClient> & { readonly current: ReadonlyMap<string, CurrentFailure> }
  readonly failures: readonly FailureTotal[]
  /** For administrators. */
  readonly changes: readonly AuditSentence[]
  readonly nowMs: number
}

/** The first page: what happens, and what needs somebody. */
function overviewPage(request: DeveloperRequest, content: OverviewContent): PageContent {
  const { paths, developer } = request
  const { usage, applications, pending, expiring, failing, failures, changes, nowMs } = content
  const requests = usage.issued + usage.failed
  const rate = requests === 0 ? '–' : successRate(usage)
  const pendingPath = developer.administrator
    ? paths.approvals
    : linkTo(paths.applications, { show: 'pending' })
  const body = html`<dl class="figures">
      ${figure('Tokens in 30 days', formatShortCount(usage.issued))} ${figure('Success rate', rate)}
      ${figure('Applications', formatCount(applications), paths.applications)}
      ${figure(developer.administrator ? 'To approve' : 'Pending approval', formatCount(pending), pendingPath, pending > 0)}
    </dl>
    <section aria-labelledby="tokens">
      <h2 id="tokens">Token requests per day</h2>
      ${requests === 0 ? html`<p class="muted">No token requests in the last 30 days.</p>` : html`${usageLegend(usage)} ${usageFigure(usage, 'tokens')}`}
    </section>
    <div class="grid">
      ${part(
        'Secrets that expire soon',
        expiring.map((secret) => expiry(request, secret, nowMs)),
        `No secret expires in the next ${longestExpiryDays} days.`,
        expiring.length > 0 ? html`<a href="${paths.expiringSecrets}">All</a>` : undefined,
      )}
      ${part(
        'Top failures, 24 hours',
        [
          ...failing.items.map((client) => failingRow(request, client, failing.current, nowMs)),
          ...failures
            .filter(
              ({ application }) => !failing.items.some((client) => client.application.id === application.id),
            )
            .map((failure) => failureRow(request, failure)),
        ].slice(0, shownRows),
        'No token request has failed.',
        failures.length > 0
          ? html`<a
              href="${linkTo(paths.applications, failing.total > 0 ? { show: 'failing' } : { order: 'failures' })}"
              >${failing.total > 0 ? `${formatCount(failing.total)} failing now` : 'All'}</a
            >`
          : undefined,
      )}
      ${
        developer.administrator
          ? part(
              'Recent changes',
              changes.map(
                ({ sentence, atMs }) =>
                  html`<p>${sentence}<br /><span class="hint">${relativeTime(atMs, nowMs)}</span></p>`,
              ),
              'No changes yet.',
              html`<a href="${paths.audit}">Audit log</a>`,
            )
          : ''
      }
    </div>`
  return { title: 'Overview', body }
}

function figure(name: string, value: string, path?: string, isDue = false): SafeHtml {
  return html`<div>
    <dt>${name}</dt>
    <dd>
      ${path === undefined ? value : html`<a class="quiet ${isDue ? 'due' : ''}" href="${path}">${value}</a>`}
    </dd>
  </div>`
}

function part(title: string, rows: readonly SafeHtml[], otherwise: string, link?: SafeHtml): SafeHtml {
  return html`<section>
    <div class="bar">
      <h2>${title}</h2>
      ${link === undefined ? '' : html`<div class="actions">${link}</div>`}
    </div>
    ${
      rows.length === 0
        ? html`<p class="muted">${otherwise}</p>`
        : html`<ul class="rows">
            ${rows.map((row) => html`<li class="bar">${row}</li>`)}
          </ul>`
    }
  </section>`
}

function expiry(request: DeveloperRequest, secret: ExpiringSecret, nowMs: number): SafeHtml {
  return html`<p>
      ${cutLink(secret.owner.name || secret.owner.clientId, ownerPath(request, secret.owner))}
      <span class="hint">Secret <code>${secret.prefix}••••</code></span>
    </p>
    <div class="actions">${expiryOf(secret, nowMs)}</div>`
}

function failureRow({ paths }: DeveloperRequest, { application, outcome, requests }: FailureTotal): SafeHtml {
  return html`<p>
      ${cutLink(application.name, paths.requests(application.projectId, application.id))}
      <span class="hint">${describeOutcome(outcome).label}</span>
    </p>
    <div class="actions number">${formatCount(requests)}</div>`
}

/** One that gets no tokens now, whatever it got before. */
function failingRow(
  { paths }: DeveloperRequest,
  { application: { id, name, clientId }, project }: RegisteredClient,
  current: ReadonlyMap<string, CurrentFailure>,
  nowMs: number,
): SafeHtml {
  const failure = current.get(clientId)
  const since = failure && timeSince(failure.sinceMs, nowMs)
  return html`<p>
      ${cutLink(name, paths.application(project.id, id))}
      ${failure && html`<span class="hint">${describeOutcome(failure.outcome).label}${since && html`, for ${since}`}</span>`}
    </p>
    <div class="actions"><span class="badge" data-variant="danger">Failing now</span></div>`
}

/** One that nobody uses can expire without an effect. */
function expiryOf({ expiresAtMs, lastUsedAtMs }: ExpiringSecret, nowMs: number): SafeHtml {
  return lastUsedAtMs === undefined ? relativeTime(expiresAtMs, nowMs) : expiryBadge(expiresAtMs, nowMs)
}

/** Names in a narrow column, in one line each. */
function cutLink(name: string, href: string): SafeHtml {
  return html`<a class="cut" dir="auto" href="${href}" title="${name}">${name}</a>`
}

/** The days within which a secret expires, as the URL says. */
const expiryPeriods = { '14': 'Within 14 days', '7': 'Within 7 days', '1': 'Within a day' } as const

interface ExpiringSecretsContent extends ListPage<ExpiringSecret> {
  readonly state: ListState
  /** How many expire within each period; empty: the longest. */
  readonly counts: ReadonlyMap<string, number>
  readonly nowMs: number
}

/** The secrets that expire next: of the developer's applications, or for administrators of all clients. */
function expiringSecretsPage(
  request: DeveloperRequest,
  { items, total, state, counts, nowMs }: ExpiringSecretsContent,
): PageContent {
  const { paths } = request
  const facet = (id: string, label: string): Facet => ({ id, label, count: counts.get(id) ?? 0 })
  const columns: readonly Column<ExpiringSecret>[] = [
    {
      label: 'Client',
      kind: 'name',
      cell: ({ owner, prefix, lastUsedAtMs }) =>
        named({
          name: owner.name || owner.clientId,
          href: ownerPath(request, owner),
          below: html`<code>${prefix}••••</code
            ><span class="narrow">
              ·
              ${lastUsedAtMs === undefined ? 'never used' : html`used ${relativeTime(lastUsedAtMs, nowMs)}`}</span
            >`,
        }),
    },
    {
      label: 'Last used',
      kind: 'time',
      leaves: 1,
      cell: ({ lastUsedAtMs }) => relativeTimeOrNever(lastUsedAtMs, nowMs),
    },
    { label: 'Expires', kind: 'time', cell: (secret) => expiryOf(secret, nowMs) },
  ]
  const body = html`<p class="lead">
      Rotate a secret, and deploy the new one, before the secret in use expires. A secret that was never used
      can expire without an effect.
    </p>
    ${list(columns, items, {
      label: 'Secrets that expire soon',
      browsing: {
        path: paths.expiringSecrets,
        state,
        total,
        noun: 'secrets',
        facets: [
          facet('', `Within ${longestExpiryDays} days`),
          ...Object.entries(expiryPeriods)
            .toSorted(([a], [b]) => Number(b) - Number(a))
            .map(([id, label]) => facet(id, label)),
        ],
      },
      empty: html`<div class="empty"><h2>No secret expires in the next ${longestExpiryDays} days</h2></div>`,
    })}`
  return {
    title: 'Secrets that expire soon',
    body,
    trail: [['Overview', paths.root]],
    section: paths.root,
  }
}

/** Where one rotates the secret. */
function ownerPath(
  { paths }: DeveloperRequest,
  { id, projectId, clientId }: ExpiringSecret['owner'],
): string {
  return projectId === undefined ? paths.resourceServer(clientId) : paths.credentials(projectId, id)
}
