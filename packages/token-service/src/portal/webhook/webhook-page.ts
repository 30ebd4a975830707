import { html, type SafeHtml } from '@remix-run/html-template'
import type { Webhook, WebhookDelivery } from '../../storage/webhook-storage.ts'
import { copyable } from '../layout/copyable.ts'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { dangerSection } from '../layout/menus.ts'
import type { PageContent } from '../layout/page.ts'
import { relativeTime, time } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export interface WebhookContent {
  readonly webhook: Webhook | undefined
  readonly deliveries: readonly WebhookDelivery[]
  readonly state: FormState
  /** Why the test event was not delivered. */
  readonly failure?: string | undefined
  readonly nowMs: number
}

/** Where events are sent, and what became of the last ones. */
export function webhookPage(
  request: DeveloperRequest,
  { webhook, deliveries, state, failure, nowMs }: WebhookContent,
): PageContent {
  const body = html`<p class="lead">
      The service sends an HTTP request to your program when an approval is requested, when a secret is
      revoked, and 30, 14, 7 and 1 days before a secret expires.
    </p>
    ${failure === undefined ? '' : html`<div role="alert" class="notice" data-variant="danger">The test event was not delivered: ${failure}.</div>`}
    ${webhook ? current(request, webhook) : ''}
    ${deliveries.length > 0 ? deliveryTable(deliveries, nowMs) : ''} ${urlForm(request, webhook, state)}
    ${webhook ? removal(request) : ''}`
  return { title: 'Webhook', body }
}

function current({ paths, csrfToken }: DeveloperRequest, { url, createdAtMs }: Webhook): SafeHtml {
  return html`<section aria-labelledby="current">
    <h2 id="current">Events are sent to</h2>
    <p><code>${url}</code><br /><span class="muted">since ${time(createdAtMs)}</span></p>
    <form method="post" action="${paths.webhookTest}">
      ${csrfInput(csrfToken)}<button class="outline">Send a test event</button>
    </form>
  </section>`
}

function urlForm(
  { paths, csrfToken }: DeveloperRequest,
  webhook: Webhook | undefined,
  state: FormState,
): SafeHtml {
  const hint = webhook
    ? 'An https URL. Also if you keep it, a new signing secret replaces the existing one; the next page shows it.'
    : 'An https URL. Requests to it are signed with a secret, which the next page shows.'
  return html`<form method="post" action="${paths.webhook}" class="card form">
    <h2>${webhook ? 'Change the URL and the signing secret' : 'Set a webhook'}</h2>
    ${csrfInput(csrfToken)}
    ${field({ name: 'url', label: 'URL', hint }, { ...state, values: { url: webhook?.url ?? '', ...state.values } })}
    <button>${webhook ? 'Save with a new secret' : 'Set webhook'}</button>
  </form>`
}

function removal({ paths, csrfToken }: DeveloperRequest): SafeHtml {
  const text = 'No more events are sent, and those that wait for delivery are deleted.'
  const button = dialog({
    id: 'remove',
    label: html`Remove<span class="visually-hidden"> webhook</span>`,
    title: 'Remove the webhook?',
    body: html`<p>${text}</p>`,
    action: paths.webhookRemoval,
    confirm: 'Remove webhook',
    csrfToken,
    danger: true,
  })
  return dangerSection('Remove', [{ title: 'Remove the webhook', text, button }])
}

function deliveryTable(deliveries: readonly WebhookDelivery[], nowMs: number): SafeHtml {
  return html`<section aria-labelledby="deliveries">
    <h2 id="deliveries">Latest events</h2>
    <table class="stacked">
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Created</th>
          <th scope="col" class="number">Attempts</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>
        ${deliveries.map(
          (delivery) =>
            html`<tr>
              <td data-label="Event">
                <code class="event">${delivery.type}</code><br /><span class="muted"
                  >${clientOf(delivery)}</span
                >
              </td>
              <td data-label="Created">${relativeTime(delivery.createdAtMs, nowMs)}</td>
              <td class="number" data-label="Attempts">${delivery.attempts}</td>
              <td class="long" data-label="Outcome">${outcomeOf(delivery, nowMs)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`
}

function clientOf({ body }: WebhookDelivery): string {
  const { client } = (JSON.parse(body) as { data: { client?: { id: string; name?: string } } }).data
  return client?.name || client?.id || ''
}

function outcomeOf({ deliveredAtMs, nextAttemptAtMs, failure }: WebhookDelivery, nowMs: number): SafeHtml {
  if (deliveredAtMs !== undefined) return html`<span class="badge" data-variant="success">Delivered</span>`
  const reason = failure === undefined ? '' : html`<br /><span class="muted">${failure}.</span>`
  return nextAttemptAtMs === undefined
    ? html`<span class="badge" data-variant="danger">Failed</span>${reason}`
    : html`<span class="badge" data-variant="warning">Waiting</span> next attempt
        ${relativeTime(nextAttemptAtMs, nowMs)}${reason}`
}

/** The only page that shows the signing secret. */
export function signingSecretPage(request: DeveloperRequest, url: string, secret: string): PageContent {
  const { paths } = request
  const body = html`<section class="notice" data-variant="warning" aria-labelledby="secret">
      <h2 id="secret">Copy the signing secret now</h2>
      <p>It is not shown again. The receiver checks the signature of each request with it.</p>
      <dl class="pairs credentials">
        <div>
          <dt>URL</dt>
          <dd>${copyable({ id: 'url', value: url, what: 'URL' })}</dd>
        </div>
        <div>
          <dt>Signing secret</dt>
          <dd>${copyable({ id: 'signing-secret', value: secret, what: 'signing secret' })}</dd>
        </div>
      </dl>
    </section>
    <p class="bar"><a class="button" href="${paths.webhook}">Continue to the webhook</a></p>`
  return { title: 'Signing secret', body, trail: [['Webhook', paths.webhook]] }
}
