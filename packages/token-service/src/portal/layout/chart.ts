import { html, type SafeHtml } from '@remix-run/html-template'
import { list } from './list.ts'
import { formatCount, formatShortCount } from './paging.ts'

/** Token requests of one part of the time. */
export interface RequestBar {
  readonly issued: number
  readonly failed: number
  /** When it began, as the table shows it. */
  readonly from: SafeHtml | string
  /** The same in words, for who points at the bar. */
  readonly title: string
  /** Below the bar; most have none. */
  readonly tick?: SafeHtml | string | undefined
}

const height = 100
const slot = 20
const gap = 5

/** The shares that the axis of failures can end at: where a tenth fails, its bar is as high as the axis. */
const shareAxes = [0.1, 0.25, 0.5, 1] as const

/**
 * Token requests over time: how many, below that how large a part of them has failed, which would hardly be seen above, and
 * the same as a table. `labelledBy`: the ID of its heading.
 */
export function requestChart(bars: readonly RequestBar[], labelledBy: string): SafeHtml {
  const width = bars.length * slot
  const most = roundUp(Math.max(...bars.map(totalOf)))
  // A part of the time with few requests, such as a day that has just begun, does not decide how the others are seen.
  const largest = Math.max(0, ...bars.filter((bar) => totalOf(bar) >= most / 20).map(shareOf))
  const axis = shareAxes.find((each) => each >= largest) ?? 1
  const hasFailures = bars.some(({ failed }) => failed > 0)
  const svg = (kind: string, lines: readonly number[], draw: (bar: RequestBar, x: number) => SafeHtml | '') =>
    html`<svg class="${kind}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
      ${lines.map((y) => html`<line x1="0" x2="${width}" y1="${y}" y2="${y}" />`)}
      ${bars.map(
        (bar, index) =>
          html`<g>
            <title>${bar.title}</title>
            <rect fill="transparent" x="${index * slot}" y="0" width="${slot}" height="${height}" />
            ${draw(bar, index * slot + gap / 2)}
          </g>`,
      )}
    </svg>`
  return html`<figure class="chart" role="group" aria-labelledby="${labelledBy}">
      <div class="y-axis" aria-hidden="true">
        <span>${formatShortCount(most)}</span><span>${most > 1 ? formatShortCount(most / 2) : ''}</span
        ><span>0</span>
      </div>
      ${svg('counts', [0, height / 2, height], ({ issued, failed }, x) => html`${rectangle('issued', x, issued / most)}${rectangle('failed', x, failed / most, issued / most)}`)}
      <div class="x-axis" aria-hidden="true">${bars.map(({ tick = '' }) => html`<span>${tick}</span>`)}</div>
      ${
        hasFailures
          ? html`<span class="caption" aria-hidden="true">Failed, of all</span>
              <div class="y-axis" aria-hidden="true"><span>${percent(axis)}</span><span>0%</span></div>
              ${svg('shares', [0, height], (bar, x) => rectangle('failed', x, Math.min(1, shareOf(bar) / axis)))}`
          : ''
      }
    </figure>
    <details>
      <summary>Show as a table</summary>
      ${list(
        [
          { label: 'From', kind: 'name', cell: ({ from }) => from },
          { label: 'Issued', kind: 'number', cell: ({ issued }) => formatCount(issued) },
          { label: 'Failed', kind: 'number', cell: ({ failed }) => formatCount(failed) },
          { label: 'Share', kind: 'number', leaves: 1, cell: (bar) => percent(shareOf(bar)) },
        ],
        bars.filter((bar) => totalOf(bar) > 0).toReversed(),
        { label: 'Token requests' },
      )}
    </details>`
}

function totalOf({ issued, failed }: RequestBar): number {
  return issued + failed
}

function shareOf(bar: RequestBar): number {
  return bar.failed === 0 ? 0 : bar.failed / totalOf(bar)
}

/** Such as `2.5%`. */
function percent(share: number): string {
  return `${Math.round(share * 1000) / 10}%`
}

/** What is not zero is seen. `below`: the part on which it stands. */
function rectangle(kind: 'issued' | 'failed', x: number, part: number, below = 0): SafeHtml | '' {
  if (part === 0) return ''
  const size = heightOf(part)
  const y = height - size - heightOf(below)
  return html`<rect class="${kind}" x="${x}" y="${y}" width="${slot - gap}" height="${size}" />`
}

function heightOf(part: number): number {
  return part === 0 ? 0 : Math.max(1, Math.round(part * height * 100) / 100)
}

/** The smallest round number that is at least this one: 1, 2, 4, 6, 8, 10, 20, … It can be halved from 2 on. */
function roundUp(count: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(count, 1)))
  return [1, 2, 4, 6, 8, 10].map((step) => step * power).find((round) => round >= count) ?? count
}
