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
  auditWords,
  settingName,
  createAuditSentences,
} from './audit-events.ts'
import { choice, csrfInput, field } from '../../portal/layout/form.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { formatCount, linkTo } from '../../portal/layout/paging.ts'
import { duration, isZone, localTime, startOfDay, time } from '../../portal/layout/time.ts'
import { administratorPages, type DeveloperRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import type { PortalService } from '../sessions/openid-provider.ts'
import { actorOf } from '../sessions/session.ts'
import type { AuditFilter, Changes } from '../../storage/audit-storage.ts'

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
    return typeof value === 'string' ? value.trim().slice(0, 200) : ''
  }
  return {
    q: text('q'),
    group: text('group'),
    since: text('since'),
    until: text('until'),
    zone: isZone(text('zone')) ? text('zone') : '',
  }
}

/** Days are those of the reader, as far as the script says where they are; the last one is included. */
function parseFilter({ q, group, since, until, zone }: AuditFields): AuditFilter {
  return {
    ...(isEventGroup(group) && { events: eventGroups[group][1] }),
    ...(q !== '' && { words: auditWords(q) }),
    ...(isDay(since) && { sinceMs: startOfDay(Date.parse(since), zone) }),
    ...(isDay(until) && { untilMs: startOfDay(Date.parse(until) + dayMs, zone) }),
  }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
}

/** The fields of the filter, as they were sent. */
type AuditFields = Readonly<Record<'q' | 'group' | 'since' | 'until' | 'zone', string>>

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
  const groups = (Object.keys(eventGroups) as EventGroup[]).map((id) => [id, eventGroups[id][0]] as const)
  const body = html`${content.clockJump ? clockNotice(request, content.clockJump, content.nowMs) : ''}
    <form method="get" action="${paths.audit}" class="filter" role="search">
      <div data-field class="search">
        <label for="q">Person, application, setting or address</label>
        <input
          type="search"
          id="q"
          name="q"
          value="${fields.q}"
          placeholder="token lifetime"
          autocomplete="off"
          spellcheck="false"
        />
      </div>
      ${choice({ name: 'group', label: 'What', choices: [['', 'Everything'], ...groups] }, state)}
      ${field({ name: 'since', label: 'From', type: 'date', required: false }, state)}
      ${field({ name: 'until', label: 'To', type: 'date', required: false }, state)}
      <input type="hidden" name="zone" value="${fields.zone}" />
      <button>Show</button>
      ${isNarrowed(fields) ? html`<a class="button ghost" href="${paths.audit}">Clear</a>` : ''}
      <p class="hint">Days are those of <span data-zone>${fields.zone || 'UTC'}</span>.</p>
    </form>
    ${
      entries.length === 0
        ? html`<div class="card empty">
            <h2>No entries</h2>
            <p class="muted">Nothing matches the filter.</p>
          </div>`
        : html`<ul class="rows audit">
            ${entries.map((entry) => row(request, fields, entry))}
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

function isNarrowed({ zone: _zone, ...fields }: AuditFields): boolean {
  return Object.values(fields).some((value) => value !== '')
}

function row({ paths }: DeveloperRequest, fields: AuditFields, entry: AuditSentence): SafeHtml {
  const { id, atMs, event, actor, actorType, clientId, clientName, address, detail, sentence } = entry
  const chip = (value: string | undefined, label = value) =>
    value === undefined || fields.q === value
      ? ''
      : html`<a class="chip" href="${linkTo(paths.audit, { ...fields, q: value })}"
          ><span class="visually-hidden">Only entries of </span>${label}</a
        >`
  const values = [
    ['Time', time(atMs)],
    ['Event', html`<code>${event}</code>`],
    ['Who', actorType && actorText(entry)],
    ['Address', address],
    ['Client ID', clientId && html`<code>${clientId}</code>`],
    ['Detail', detail],
    ...Object.entries(entry.changes ?? {})
      // Of what is new, only what it has.
      .filter(([, { from, to }]) => from !== undefined || valueText(to) !== 'none')
      .map(([name, { from, to }]) => [name, change(from, to)] as const),
  ] as readonly (readonly [string, SafeHtml | string | undefined])[]
  return html`<li>
    <p class="sentence">${sentence}${difference(entry.changes, fields.q)}</p>
    <span class="hint">${localTime(atMs, 'moment')}</span>
    <details>
      <summary>Details</summary>
      <dl class="pairs" id="entry-${id}">
        ${values.filter(([, value]) => value !== undefined).map(([name, value]) => pair(name, value))}
      </dl>
      <p class="actions">
        <span class="muted">Show only</span>
        ${chip(actor)} ${chip(clientId, clientName)} ${chip(address)}
      </p>
    </details>
  </li>`
}

/** What the details alone say: whole requests and their reviews. */
const notInRows = ['requested', 'review', 'revision']
const shownChanges = 3
const shownLength = 120

/** The settings that were changed, those of the search first, with their old and new values; those of something new are not. */
function difference(changes: Changes = {}, search: string): SafeHtml | '' {
  const wanted = new Set(auditWords(search).flatMap(({ settings }) => settings))
  const changed = Object.entries(changes)
    .filter(([name, { from }]) => from !== undefined && !notInRows.includes(name))
    .toSorted(([a], [b]) => Number(wanted.has(b)) - Number(wanted.has(a)))
  if (changed.length === 0) return ''
  const text = (name: string, value: unknown) => {
    const whole = name === 'lifetimeSeconds' && typeof value === 'number' ? duration(value) : valueText(value)
    return whole.length > shownLength ? `${whole.slice(0, shownLength)}…` : whole
  }
  const more = changed.length - shownChanges
  return html` <span class="difference"
    >${changed
      .slice(0, shownChanges)
      .map(
        ([name, { from, to }], index) =>
          html`${index === 0 ? '' : ' · '}${settingName(name)} <del dir="auto">${text(name, from)}</del>
            <span aria-hidden="true">→</span><span class="visually-hidden"> becomes </span>
            <ins dir="auto">${text(name, to)}</ins>`,
      )}${more > 0 ? ` · and ${formatCount(more)} more` : ''}</span
  >`
}

/** Without spaces between its parts: fifty entries have hundreds of them. */
function pair(name: string, value: SafeHtml | string | undefined): SafeHtml {
  const term = html`<dt>${name}</dt>`
  return html`<div>${term}${html`<dd>${value}</dd>`}</div>`
}

/** The old value, if there was one, and the new one. */
function change(from: unknown, to: unknown): SafeHtml {
  return html`${from === undefined ? '' : html`<s>${valueText(from)}</s> <span class="visually-hidden">becomes </span>`}${valueText(to)}`
}

function valueText(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none'
  if (Array.isArray(value)) return value.join(', ') || 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === '{}' ? 'none' : text
}
