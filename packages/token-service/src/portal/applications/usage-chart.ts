import { html, type SafeHtml } from '@remix-run/html-template'
import { requestChart } from '../layout/chart.ts'
import { formatCount } from '../layout/paging.ts'
import { localTime } from '../layout/time.ts'
import { usageRanges, type Usage, type UsageBar, type UsageRange } from './usage.ts'

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
    <span>${key('failed')}<strong>${formatCount(failed)}</strong> failed</span>
    <span class="muted">${successRate(usage)} succeeded in the last ${range.label}</span>
  </p>`
}

/** Of the requests, of which there is at least one. */
export function successRate({ issued, failed }: Usage): string {
  return `${((issued / (issued + failed)) * 100).toFixed(1)}%`
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
