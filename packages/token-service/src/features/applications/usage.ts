import type { TokenRequestOutcome, UsageEntry } from '../../storage/activity-storage.ts'
import type { ErrorReason } from '../../oauth/protocol-error.ts'
import { html, type SafeHtml } from '@remix-run/html-template'
import { requestChart } from '../../portal/layout/chart.ts'
import { formatCount } from '../../portal/layout/paging.ts'
import { localTime } from '../../portal/layout/time.ts'

const hourMs = 3_600_000

/** What the chart can show: its name, its number of bars, the time that one represents, and that between two labels. */
export const usageRanges = [
  { id: '24h', label: '24 hours', bars: 24, barMs: hourMs, labelMs: 4 * hourMs },
  { id: '7d', label: '7 days', bars: 28, barMs: 6 * hourMs, labelMs: 24 * hourMs },
  { id: '30d', label: '30 days', bars: 30, barMs: 24 * hourMs, labelMs: 5 * 24 * hourMs },
] as const

export type UsageRange = (typeof usageRanges)[number]

export interface UsageBar {
  readonly fromMs: number
  readonly issued: number
  readonly failed: number
}

export interface Usage {
  readonly range: UsageRange
  /** The oldest first; the last one contains the present. */
  readonly bars: readonly UsageBar[]
  readonly issued: number
  readonly failed: number
  /** The most frequent first. */
  readonly failures: readonly (readonly [TokenRequestOutcome, number])[]
}

export function usageStart({ bars, barMs }: UsageRange, nowMs: number): number {
  return nowMs - (nowMs % barMs) - (bars - 1) * barMs
}

export function summarizeUsage(
  entries: readonly Omit<UsageEntry, 'clientId'>[],
  range: UsageRange,
  nowMs: number,
): Usage {
  const startMs = usageStart(range, nowMs)
  const bars = Array.from({ length: range.bars }, (_, index) => ({
    fromMs: startMs + index * range.barMs,
    issued: 0,
    failed: 0,
  }))
  const failures = new Map<TokenRequestOutcome, number>()
  for (const { hourMs: atMs, outcome, requests } of entries) {
    const bar = bars[Math.floor((atMs - startMs) / range.barMs)]
    if (!bar) continue
    if (outcome === 'issued') {
      bar.issued += requests
    } else {
      bar.failed += requests
      failures.set(outcome, (failures.get(outcome) ?? 0) + requests)
    }
  }
  const sum = (part: 'issued' | 'failed') => bars.reduce((total, bar) => total + bar[part], 0)
  return {
    range,
    bars,
    issued: sum('issued'),
    failed: sum('failed'),
    failures: [...failures].sort(([, a], [, b]) => b - a),
  }
}

const outcomes: Partial<Record<'issued' | ErrorReason, readonly [label: string, help: string]>> = {
  issued: ['Token issued', ''],
  invalid_client: ['Invalid credentials', 'Check the client’s secret or key: it is wrong or was revoked.'],
  expired_secret: ['Expired secret', 'Rotate the secret, and deploy the new one.'],
  application_not_approved: ['Not approved', 'Ask an administrator to approve the application.'],
  too_many_failures: ['Too many failures', 'Check the client’s credentials. A correct secret still works.'],
  invalid_assertion: [
    'Invalid assertion',
    'Check the assertion’s audience, and the client’s clock and registered key.',
  ],
  client_not_identified: [
    'Identity of no application',
    'Check the rules of the trusted issuer. The log of the service says which JWT did not match.',
  ],
  missing_dpop_proof: ['Missing DPoP proof', 'Send a DPoP proof, or let the application get unbound tokens.'],
  invalid_dpop_proof: [
    'Invalid DPoP proof',
    'Check the clock of the client, and the URL of the token endpoint that it signs.',
  ],
  key_set_unavailable: [
    'JWK set unavailable',
    'Check the URL of the JWK set: the service could not load it.',
  ],
  unavailable: ['Service unavailable', 'Try again later: the service could not reach its storage.'],
}

/** The result of a token request in plain words, and what to do about it. */
export function describeOutcome(outcome: TokenRequestOutcome): { label: string; help: string } {
  const words = outcome.replaceAll('_', ' ')
  const [
    label = words.charAt(0).toUpperCase() + words.slice(1),
    help = 'Correct the client’s request: it is invalid.',
  ] = outcomes[outcome as ErrorReason] ?? []
  return { label, help }
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const dayHourFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

/** Token requests in the chosen time range: how many succeeded, a chart, and a table. */
export function usageChart(usage: Usage, path: string): SafeHtml {
  const { range, issued, failed } = usage
  const requests = issued + failed
  return html`<div class="bar">
      <h2 id="usage">Token requests</h2>
      <nav class="actions" aria-label="Time range">
        ${usageRanges.map(
          ({ id, label }) =>
            html`<a
              class="button small ${id === range.id ? 'chosen' : 'ghost'}"
              href="${path}?range=${id}#usage"
              ${id === range.id ? html`aria-current="true"` : ''}
              >${label}</a
            >`,
        )}
      </nav>
    </div>
    ${
      requests === 0
        ? html`<p class="muted" id="usage-summary">No token requests in the last ${range.label}.</p>`
        : html`${usageLegend(usage)} ${usageFigure(usage, 'usage')}`
    }`
}

/** What the colours of the chart mean, with the totals. */
export function usageLegend(usage: Usage): SafeHtml {
  const { range, issued, failed } = usage
  return html`<p class="legend" id="usage-summary">
    <span>${key('issued')}<strong>${formatCount(issued)}</strong> issued</span>
    <span>${failed === 0 ? '' : key('failed')}<strong>${formatCount(failed)}</strong> failed</span>
    <span class="muted">${successRate(usage)} succeeded in the last ${range.label}</span>
  </p>`
}

/** Of the requests, of which there is at least one. */
export function successRate({ issued, failed }: Usage): string {
  return failed === 0 ? '100%' : `${((issued / (issued + failed)) * 100).toFixed(1)}%`
}

const key = (kind: 'issued' | 'failed') =>
  html`<svg class="key" viewBox="0 0 10 10" aria-hidden="true">
    <rect class="${kind}" width="10" height="10" rx="2" />
  </svg>`

/** The chart, and its table. `labelledBy`: the ID of its heading. */
export function usageFigure({ range, bars }: Usage, labelledBy: string): SafeHtml {
  return requestChart(
    bars.map((bar) => ({
      issued: bar.issued,
      failed: bar.failed,
      from: whenOf(range, bar, range.id === '30d' ? 'day' : 'minute'),
      title: `${nameOf(range, bar)}: ${formatCount(bar.issued)} issued, ${formatCount(bar.failed)} failed`,
      tick: bar.fromMs % range.labelMs === 0 ? whenOf(range, bar, range.id === '24h' ? 'hour' : 'date') : '',
    })),
    labelledBy,
  )
}

/** Days are those of UTC; hours are shown in the time zone of the reader. */
function whenOf(
  { id }: UsageRange,
  { fromMs }: UsageBar,
  precision: 'hour' | 'date' | 'minute' | 'day',
): SafeHtml | string {
  return id === '30d' ? dayFormat.format(fromMs) : localTime(fromMs, precision)
}

function nameOf({ id }: UsageRange, { fromMs }: UsageBar): string {
  return id === '30d' ? dayFormat.format(fromMs) : `${dayHourFormat.format(fromMs)} UTC`
}
