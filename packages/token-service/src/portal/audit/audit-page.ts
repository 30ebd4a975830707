import { html, type SafeHtml } from '@remix-run/html-template'
import type { ClockJump } from '../../features/audit/acts.ts'
import { choice, csrfInput, field } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import { linkTo } from '../layout/paging.ts'
import { relativeTime, time } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { eventGroups, type EventGroup } from './audit-events.ts'
import { actorText, type AuditSentence } from './audit-sentence.ts'

/** The fields of the filter, as they were sent. */
export type AuditFields = Readonly<
  Record<'group' | 'actor' | 'client_id' | 'address' | 'since' | 'until', string>
>

export interface AuditContent {
  readonly entries: readonly AuditSentence[]
  readonly fields: AuditFields
  /** Where older entries continue. */
  readonly before?: number | undefined
  readonly isFirst: boolean
  /** Set while nothing is deleted. */
  readonly clockJump?: ClockJump | undefined
  readonly nowMs: number
}

export function auditPage(request: DeveloperRequest, content: AuditContent): PageContent {
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
