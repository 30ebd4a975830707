import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { type ClockJump, confirmClock } from './acts.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import {
  type EventGroup,
  eventGroups,
  isEventGroup,
  type AuditSentence,
  actorText,
  createAuditSentences,
} from './audit-events.ts'
import { choice, csrfInput, field } from '../../portal/layout/form.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { linkTo } from '../../portal/layout/paging.ts'
import { relativeTime, time } from '../../portal/layout/time.ts'
import { administratorPages, type DeveloperRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import type { PortalService } from '../sessions/openid-provider.ts'
import { actorOf } from '../sessions/session.ts'
import type { AuditFilter } from '../../storage/audit-storage.ts'

const shownEntries = 50
const exportedEntries = 100_000
const dayMs = 86_400_000

/** The audit log, for administrators. */
export async function auditPages(
  portal: FastifyInstance,
  { storage, perform, activity, clock, clockJump }: PortalService,
): Promise<void> {
  const { get, post } = administratorPages(portal)

  get(patterns.audit, async (request) => {
    await activity.flush()
    const fields = filterFields(request.query)
    const { before } = request.query
    const cursor = typeof before === 'string' && /^\d{1,15}$/.test(before) ? Number(before) : undefined
    const found = await storage.audit.list(shownEntries + 1, parseFilter(fields), cursor)
    const entries = await createAuditSentences(storage, request.paths, found.slice(0, shownEntries))
    const content = {
      entries,
      fields,
      before: found.length > shownEntries ? entries.at(-1)?.id : undefined,
      isFirst: cursor === undefined,
      clockJump: clockJump(),
      nowMs: clock.now(),
    }
    return { page: auditPage(request, content) }
  })

  get(patterns.auditExport, async (request) => {
    await activity.flush()
    const filter = parseFilter(filterFields(request.query))
    const entries = await storage.audit.list(exportedEntries, filter)
    const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
    return { file: { name: 'audit.jsonl', type: 'application/x-ndjson; charset=utf-8', text } }
  })

  post(patterns.clockConfirmation, async (request) => {
    await perform(actorOf(request), confirmClock)
    return { redirectTo: request.paths.audit, notice: 'clock_confirmed' }
  })
}

function filterFields(query: RawParameters): AuditFields {
  const text = (name: string) => {
    const value = query[name]
    return typeof value === 'string' ? value.trim() : ''
  }
  return {
    group: text('group'),
    actor: text('actor'),
    client_id: text('client_id'),
    address: text('address'),
    since: text('since'),
    until: text('until'),
  }
}

/** Days are in UTC; the last one is included. */
function parseFilter({ group, actor, client_id: clientId, address, since, until }: AuditFields): AuditFilter {
  return {
    ...(isEventGroup(group) && { events: eventGroups[group][1] }),
    ...(actor !== '' && { actor: actor.toLowerCase() }),
    ...(clientId !== '' && { clientId }),
    ...(address !== '' && { address }),
    ...(isDay(since) && { sinceMs: Date.parse(since) }),
    ...(isDay(until) && { untilMs: Date.parse(until) + dayMs }),
  }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
}

/** The fields of the filter, as they were sent. */
type AuditFields = Readonly<Record<'group' | 'actor' | 'client_id' | 'address' | 'since' | 'until', string>>

interface AuditContent {
  readonly entries: readonly AuditSentence[]
  readonly fields: AuditFields
  /** Where older entries continue. */
  readonly before?: number | undefined
  readonly isFirst: boolean
  /** Set while nothing is deleted. */
  readonly clockJump?: ClockJump | undefined
  readonly nowMs: number
}

function auditPage(request: DeveloperRequest, content: AuditContent): PageContent {
  const { entries, fields, before, isFirst } = content
  const { paths } = request
  const state = { values: fields, errors: {} }
  const text = (name: string, label: string) => field({ name, label, required: false }, state)
  const groups = (Object.keys(eventGroups) as EventGroup[]).map((id) => [id, eventGroups[id][0]] as const)
  const body = html`${content.clockJump ? clockNotice(request, content.clockJump, content.nowMs) : ''}
    <form method="get" action="${paths.audit}" class="filter" role="search">
      ${choice({ name: 'group', label: 'What', choices: [['', 'Everything'], ...groups] }, state)}
      ${text('actor', 'Who')} ${text('client_id', 'Client ID')} ${text('address', 'Address')}
      ${field({ name: 'since', label: 'From date', type: 'date', required: false }, state)}
      ${field({ name: 'until', label: 'To date', type: 'date', required: false }, state)}
      <button class="outline">Filter</button>
      ${chips(request, fields)}
    </form>
    ${
      entries.length === 0
        ? html`<div class="card empty">
            <h2>No entries</h2>
            <p class="muted">Nothing matches the filter.</p>
          </div>`
        : html`<ul class="rows audit">
            ${entries.map((entry) => row(request, fields, entry, content.nowMs))}
          </ul>`
    }
    <nav class="pages" aria-label="Pages">
      <p>${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}, newest first</p>
      ${isFirst ? '' : html`<a class="button outline small" href="${linkTo(paths.audit, fields)}">Newest</a>`}
      ${
        before === undefined
          ? ''
          : html`<a
              class="button outline small"
              href="${linkTo(paths.audit, { ...fields, before: String(before) })}"
              >Older</a
            >`
      }
    </nav>`
  const actions = html`<a
    class="button outline"
    href="${linkTo(paths.auditExport, fields)}"
    download="audit.jsonl"
    >Export as JSON lines</a
  >`
  return { title: 'Audit log', body, actions }
}

/** The clock may be wrong, and everything too old by mistake. */
function clockNotice(
  { paths, csrfToken }: DeveloperRequest,
  { lastPurgeMs }: ClockJump,
  nowMs: number,
): SafeHtml {
  return html`<section class="notice" data-variant="warning" aria-labelledby="clock">
    <h2 id="clock">Nothing is deleted at the moment</h2>
    <p>
      The service’s clock shows ${time(nowMs)}.
      ${lastPurgeMs === undefined ? html`The time of the last purge is missing or was changed.` : html`The last purge was at ${time(lastPurgeMs)}.`}
      If the clock is wrong, correct it. If it is right, for example after an outage, confirm it: entries,
      tokens and sessions that are too old are then deleted as usual.
    </p>
    <form method="post" action="${paths.clockConfirmation}">
      ${csrfInput(csrfToken)}<button class="outline">The clock is right</button>
    </form>
  </section>`
}

/** What the log is narrowed down to; each can be removed. */
function chips({ paths }: DeveloperRequest, fields: AuditFields): SafeHtml | '' {
  const set = Object.entries(fields).filter(([, value]) => value !== '')
  return set.length === 0 ? '' : html`<a class="button ghost" href="${paths.audit}">Clear</a>`
}

function row(
  { paths }: DeveloperRequest,
  fields: AuditFields,
  entry: AuditSentence,
  nowMs: number,
): SafeHtml {
  const { id, atMs, event, actor, actorType, clientId, clientName, address, detail, sentence } = entry
  const chip = (name: keyof AuditFields, value: string | undefined, label = value) =>
    value === undefined || fields[name] === value
      ? ''
      : html`<a class="chip" href="${linkTo(paths.audit, { ...fields, [name]: value })}"
          ><span class="visually-hidden">Only entries of </span>${label}</a
        >`
  const values = [
    ['Time', time(atMs)],
    ['Event', html`<code>${event}</code>`],
    ['Who', actorType && actorText(entry)],
    ['Address', address],
    ['Client ID', clientId && html`<code>${clientId}</code>`],
    ['Detail', detail],
    ...Object.entries(entry.changes ?? {}).map(([name, { from, to }]) => [name, change(from, to)] as const),
  ] as readonly (readonly [string, SafeHtml | string | undefined])[]
  return html`<li>
    <p class="sentence">${sentence}</p>
    <span class="hint">${relativeTime(atMs, nowMs)}</span>
    <details>
      <summary>Details</summary>
      <dl class="pairs" id="entry-${id}">
        ${values
          .filter(([, value]) => value !== undefined)
          .map(
            ([name, value]) =>
              html`<div>
                <dt>${name}</dt>
                <dd>${value}</dd>
              </div>`,
          )}
      </dl>
      <p class="actions">
        <span class="muted">Show only</span>
        ${chip('actor', actor)} ${chip('client_id', clientId, clientName)} ${chip('address', address)}
      </p>
    </details>
  </li>`
}

/** The old value, if there was one, and the new one. */
function change(from: unknown, to: unknown): SafeHtml {
  return html`${from === undefined ? '' : html`<s>${valueText(from)}</s> <span class="visually-hidden">becomes </span>`}${valueText(to)}`
}

function valueText(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none'
  if (Array.isArray(value)) return value.join(', ') || 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
