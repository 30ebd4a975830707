import { html, type SafeHtml } from '@remix-run/html-template'
import { describeOutcome } from './outcomes.ts'
import { roundUp, usageRanges, type Usage, type UsageBar } from './usage.ts'

const height = 100
const slot = 20
const gap = 5

const colours = { issued: 'var(--accent)', failed: 'var(--danger)' }
const key = (colour: string) =>
  html`<svg width="10" height="10" aria-hidden="true">
    <rect width="10" height="10" rx="2" fill="${colour}" />
  </svg>`

const count = (requests: number) => requests.toLocaleString('en')
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const hourFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' })
const dayHourFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

/**
 * Token requests in the chosen time range: a chart with issued and failed requests, failures by reason, and a table.
 */
export function usageChart(usage: Usage, path: string): SafeHtml {
  const { range, issued, failed } = usage
  const isQuiet = issued + failed === 0
  return html`<div class="bar">
      <h2 id="usage">Token requests</h2>
      <nav class="actions" aria-label="Time range">
        <ul class="actions">
          ${usageRanges.map(
            ({ id, label }) =>
              html`<li>
                <a
                  class="button small ${id === range.id ? '' : 'outline'}"
                  href="${path}?range=${id}#usage"
                  ${id === range.id ? html`aria-current="true"` : ''}
                  >${label}</a
                >
              </li>`,
          )}
        </ul>
      </nav>
    </div>
    ${isQuiet ? html`<p class="muted" id="usage-summary">No token requests in the last ${range.label}.</p>` : chart(usage)}`
}

function chart(usage: Usage): SafeHtml {
  const { range, bars, issued, failed, failures } = usage
  const top = roundUp(Math.max(...bars.map((bar) => bar.issued + bar.failed)))
  const gridTops = [0, height / 2]
  const first = bars[0]?.fromMs ?? 0
  const middle = bars[Math.floor(bars.length / 2)]?.fromMs ?? 0
  const axisLabel = range.id === '24h' ? hourFormat : dayFormat
  return html`<p id="usage-summary">
      ${key(colours.issued)} <strong>${count(issued)}</strong> issued ${key(colours.failed)}
      <strong>${count(failed)}</strong> failed in the last ${range.label}
    </p>
    <figure class="chart">
      <div class="y-axis" aria-hidden="true">
        <span>${count(top)}</span><span>${top > 1 ? count(top / 2) : ''}</span><span>0</span>
      </div>
      <svg
        viewBox="0 0 ${bars.length * slot} ${height}"
        preserveAspectRatio="none"
        role="img"
        aria-labelledby="usage usage-summary"
      >
        ${gridTops.map((y) => html`<line stroke-dasharray="3 4" x1="0" x2="${bars.length * slot}" y1="${y}" y2="${y}" />`)}
        ${bars.map((bar, index) => barShape(bar, { index, top, label: barLabel(usage, bar) }))}
        <line x1="0" x2="${bars.length * slot}" y1="${height}" y2="${height}" />
      </svg>
      <div class="x-axis" aria-hidden="true">
        <span>${axisLabel.format(first)}</span><span>${axisLabel.format(middle)}</span><span>now (UTC)</span>
      </div>
    </figure>
    ${
      failures.length === 0
        ? ''
        : html`<table class="stacked">
            <caption>
              Failures by reason
            </caption>
            <thead>
              <tr>
                <th scope="col">Reason</th>
                <th scope="col">Requests</th>
                <th scope="col">What to do</th>
              </tr>
            </thead>
            <tbody>
              ${failures.map(([outcome, requests]) => {
                const { label, help } = describeOutcome(outcome)
                return html`<tr>
                  <td data-label="Reason"><strong>${label}</strong></td>
                  <td data-label="Requests">${count(requests)}</td>
                  <td data-label="What to do">${help}</td>
                </tr>`
              })}
            </tbody>
          </table>`
    }
    <details>
      <summary>Show as a table</summary>
      <table>
        <caption class="visually-hidden">
          Token requests, in UTC
        </caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">Issued</th>
            <th scope="col">Failed</th>
          </tr>
        </thead>
        <tbody>
          ${bars
            .toReversed()
            .filter((bar) => bar.issued + bar.failed > 0)
            .map(
              (bar) =>
                html`<tr>
                  <td>${barLabel(usage, bar)}</td>
                  <td>${count(bar.issued)}</td>
                  <td>${count(bar.failed)}</td>
                </tr>`,
            )}
        </tbody>
      </table>
    </details>`
}

function barLabel({ range }: Usage, { fromMs }: UsageBar): string {
  return (range.id === '30d' ? dayFormat : dayHourFormat).format(fromMs)
}

function barShape(
  { issued, failed }: UsageBar,
  { index, top, label }: { readonly index: number; readonly top: number; readonly label: string },
): SafeHtml {
  const scaled = (requests: number) =>
    requests === 0 ? 0 : Math.max(2, Math.round((requests / top) * height * 100) / 100)
  const part = (kind: keyof typeof colours, requests: number, below: number) =>
    requests === 0
      ? ''
      : html`<rect
          fill="${colours[kind]}"
          x="${index * slot + gap / 2}"
          y="${height - below - scaled(requests)}"
          width="${slot - gap}"
          height="${scaled(requests)}"
        />`
  return html`<g>
    <title>${label}: ${count(issued)} issued, ${count(failed)} failed</title>
    <rect fill="transparent" x="${index * slot}" y="0" width="${slot}" height="${height}" />
    ${part('issued', issued, 0)} ${part('failed', failed, scaled(issued))}
  </g>`
}
