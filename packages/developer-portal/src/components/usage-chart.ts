import { html, type SafeHtml } from '@remix-run/html-template'
import type { DayOfUse } from './usage-by-day.ts'

const height = 100
const slot = 20
const gap = 4

const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const shortDay = (day: string) => format.format(new Date(day))
const count = (tokens: number) => tokens.toLocaleString('en')

/** Tokens per day: a chart, a summary and a table. */
export function usageChart(days: readonly DayOfUse[]): SafeHtml {
  const total = days.reduce((sum, { tokens }) => sum + tokens, 0)
  const busiest = days.reduce((most, each) => (each.tokens > most.tokens ? each : most), days[0] ?? nothing)
  if (total === 0) return html`<p>No tokens in the last ${days.length} days.</p>`
  const summary = `${count(total)} in the last ${days.length} days. Busiest day: ${shortDay(busiest.day)}, with ${count(busiest.tokens)}.`
  return html`<p id="usage-summary">${summary}</p>
    <figure class="chart">
      <svg
        viewBox="0 0 ${days.length * slot} ${height}"
        preserveAspectRatio="none"
        role="img"
        aria-labelledby="usage usage-summary"
      >
        ${days.map((each, index) => bar(each, index, busiest.tokens))}
      </svg>
      <figcaption>
        <span>${shortDay(days[0]?.day ?? '')}</span><span>${shortDay(days.at(-1)?.day ?? '')}</span>
      </figcaption>
    </figure>
    <details>
      <summary>Show as a table</summary>
      <table>
        <caption class="visually-hidden">
          Tokens issued per day, in UTC
        </caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Tokens</th>
          </tr>
        </thead>
        <tbody>
          ${days.toReversed().map(
            ({ day, tokens }) =>
              html`<tr>
                <th scope="row">${shortDay(day)}</th>
                <td>${count(tokens)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </details>`
}

const nothing: DayOfUse = { day: '', tokens: 0 }

function bar({ day, tokens }: DayOfUse, index: number, most: number): SafeHtml {
  const barHeight = tokens === 0 ? 1 : Math.max(3, Math.round((tokens / most) * height))
  const kind = tokens === 0 ? 'none' : 'some'
  return html`<rect
    class="${kind}"
    x="${index * slot + gap / 2}"
    y="${height - barHeight}"
    width="${slot - gap}"
    height="${barHeight}"
  >
    <title>${shortDay(day)}: ${count(tokens)}</title>
  </rect>`
}
