import { html, type SafeHtml } from '@remix-run/html-template'
import type { TokenRequestEntry } from '../../storage/storage.ts'
import { describeOutcome } from './outcomes.ts'
import { relativeTime } from '../layout/time.ts'

export function recentRequests(requests: readonly TokenRequestEntry[], nowMs: number): SafeHtml {
  return html`<section class="card" aria-labelledby="requests">
    <h2 id="requests">Recent token requests</h2>
    ${
      requests.length === 0
        ? html`<p class="muted">The application has not requested a token in the last 7 days.</p>`
        : html`<table class="stacked compact">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Result</th>
                <th scope="col">Address</th>
                <th scope="col">Requests</th>
              </tr>
            </thead>
            <tbody>
              ${requests.map(
                ({ atMs, outcome, address, count }) =>
                  html`<tr>
                    <td data-label="Time">${relativeTime(atMs, nowMs)}</td>
                    <td data-label="Result">
                      <span class="badge" data-variant="${outcome === 'issued' ? 'success' : 'danger'}"
                        >${describeOutcome(outcome).label}</span
                      >
                    </td>
                    <td data-label="Address"><code>${address}</code></td>
                    <td data-label="Requests">${count.toLocaleString('en')}</td>
                  </tr>`,
              )}
            </tbody>
          </table>`
    }
  </section>`
}
