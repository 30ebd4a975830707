import { html, type SafeHtml } from '@remix-run/html-template'
import { roundUp, usageRanges, type Usage, type UsageBar } from './usage.ts'
import { formatCount } from '../layout/paging.ts'

const height = 100
const slot = 20
const gap = 5

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const hourFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' })
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
        : html`${usageLegend(usage)} ${usageFigure(usage, 'usage')} ${usageTable(usage)}`
    }`
}

/** What the colours of the chart mean, with the totals. */
export function usageLegend(usage: Usage): SafeHtml {
  const { range, issued, failed } = usage
  return html`<p class="legend" id="usage-summary">
    <span>${key('issued')}<strong>${formatCount(issued)}</strong> issued</span>
    <span>${key('failed')}<strong>${formatCount(failed)}</strong> failed</span>
    <span class="muted">${successRate(usage)} succeeded in the last ${range.label} (UTC)</span>
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

/** The chart: issued tokens, and on top of them failures. `labelledBy`: the ID of its heading. */
export function usageFigure({ range, bars }: Usage, labelledBy: string): SafeHtml {
  const width = bars.length * slot
  const top = roundUp(Math.max(...bars.map(({ issued, failed }) => issued + failed)))
  const axisLabel = range.id === '24h' ? hourFormat : dayFormat
  return html`<figure class="chart">
    <div class="y-axis" aria-hidden="true">
      <span>${formatCount(top)}</span><span>${top > 1 ? formatCount(top / 2) : ''}</span><span>0</span>
    </div>
    <svg
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
      role="img"
      aria-labelledby="${labelledBy}"
    >
      ${[0, height / 2, height].map((y) => html`<line x1="0" x2="${width}" y1="${y}" y2="${y}" />`)}
      ${bars.map((bar, index) => {
        const issued = scaled(bar.issued, top)
        const failed = scaled(bar.failed, top)
        return html`<g>
          <title>${barTitle(range.id, bar)}</title>
          <rect fill="transparent" x="${index * slot}" y="0" width="${slot}" height="${height}" />
          ${rectangle('issued', index, height - issued, issued)}
          ${rectangle('failed', index, height - issued - failed, failed)}
        </g>`
      })}
    </svg>
    <div class="x-axis" aria-hidden="true">
      ${bars.map(({ fromMs }) => html`<span>${fromMs % range.labelMs === 0 ? axisLabel.format(fromMs) : ''}</span>`)}
    </div>
  </figure>`
}

function usageTable({ range, bars }: Usage): SafeHtml {
  return html`<details>
    <summary>Show as a table</summary>
    <table>
      <caption class="visually-hidden">
        Token requests, in UTC
      </caption>
      <thead>
        <tr>
          <th scope="col">From</th>
          <th scope="col" class="number">Issued</th>
          <th scope="col" class="number">Failed</th>
        </tr>
      </thead>
      <tbody>
        ${bars
          .toReversed()
          .filter((bar) => bar.issued + bar.failed > 0)
          .map(
            (bar) =>
              html`<tr>
                <td>${barLabel(range.id, bar)}</td>
                <td class="number">${formatCount(bar.issued)}</td>
                <td class="number">${formatCount(bar.failed)}</td>
              </tr>`,
          )}
      </tbody>
    </table>
  </details>`
}

function barTitle(range: string, bar: UsageBar): string {
  return `${barLabel(range, bar)}: ${formatCount(bar.issued)} issued, ${formatCount(bar.failed)} failed`
}

function barLabel(range: string, { fromMs }: UsageBar): string {
  return (range === '30d' ? dayFormat : dayHourFormat).format(fromMs)
}

function scaled(requests: number, top: number): number {
  return requests === 0 ? 0 : Math.max(1, Math.round((requests / top) * height * 100) / 100)
}

function rectangle(kind: 'issued' | 'failed', index: number, y: number, size: number): SafeHtml | '' {
  if (size === 0) return ''
  return html`<rect
    class="${kind}"
    x="${index * slot + gap / 2}"
    y="${y}"
    width="${slot - gap}"
    height="${size}"
  />`
}
