import { html, type SafeHtml } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { UsageError } from '../../runtime/usage-error.ts'
import { actorOf } from '../sessions/session.ts'
import { copyable } from '../../portal/layout/copyable.ts'
import { dialog } from '../../portal/layout/dialog.ts'
import { csrfInput, emptyForm, field, type FormState } from '../../portal/layout/form.ts'
import { list, named, state } from '../../portal/layout/list.ts'
import { dangerSection } from '../../portal/layout/menus.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { parseForm } from '../../portal/layout/parse-form.ts'
import { line } from '../../runtime/bounds.ts'
import { relativeTime, time } from '../../portal/layout/time.ts'
import { administratorPages, type DeveloperRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import type { ServiceContext } from '../context.ts'
import { removeWebhook, setWebhook, testWebhook } from './acts.ts'
import { webhookStorage, type Webhook, type WebhookDelivery } from './storage.ts'

const form = z.object({ url: line(1_000) })
const shownDeliveries = 50

/** Where events are sent, for administrators. */
export async function webhookPages(portal: FastifyInstance, service: ServiceContext): Promise<void> {
  const { database, perform, clock } = service
  const { get, post } = administratorPages(portal)

  async function show(request: DeveloperRequest, state: FormState, failure?: string): Promise<PageContent> {
    const storage = webhookStorage(database)
    const [webhook, deliveries] = await Promise.all([storage.find(), storage.list(shownDeliveries)])
    return webhookPage(request, { webhook, deliveries, state, failure, nowMs: clock.now() })
  }

  get(patterns.webhook, async (request) => ({ page: await show(request, emptyForm) }))

  post(patterns.webhook, async (request) => {
    const parsed = parseForm(form, request.form)
    if (!parsed.data) return { page: await show(request, parsed.state), status: 422 }
    const { url } = parsed.data
    try {
      const secret = await perform(actorOf(request), (act) => setWebhook(act, url))
      return { page: signingSecretPage(request, url, secret) }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      return { page: await show(request, { values: { url }, errors: { url: error.message } }), status: 422 }
    }
  })

  post(patterns.webhookTest, async (request) => {
    const { failure } = await testWebhook(service, actorOf(request))
    return failure === undefined
      ? { redirectTo: request.paths.webhook, notice: 'webhook_delivered' }
      : { page: await show(request, emptyForm, failure) }
  })

  post(patterns.webhookRemoval, async (request) => {
    await perform(actorOf(request), removeWebhook)
    return { redirectTo: request.paths.webhook, notice: 'webhook_removed' }
  })
}

interface WebhookContent {
  readonly webhook: Webhook | undefined
  readonly deliveries: readonly WebhookDelivery[]
  readonly state: FormState
  /** Why the test event was not delivered. */
  readonly failure?: string | undefined
  readonly nowMs: number
}

/** Where events are sent, and what became of the last ones. */
function webhookPage(
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
    ${list<WebhookDelivery>(
      [
        {
          label: 'Event',
          kind: 'name',
          cell: (delivery) => named({ name: delivery.type, below: clientOf(delivery) }),
        },
        {
          label: 'Created',
          kind: 'time',
          leaves: 3,
          cell: ({ createdAtMs }) => relativeTime(createdAtMs, nowMs),
        },
        { label: 'Attempts', kind: 'number', leaves: 3, cell: ({ attempts }) => String(attempts) },
        { label: 'Outcome', kind: 'text', cell: (delivery) => outcomeOf(delivery, nowMs) },
      ],
      deliveries,
      { label: 'Latest events' },
    )}
  </section>`
}

function clientOf({ body }: WebhookDelivery): string {
  const { client } = (JSON.parse(body) as { data: { client?: { id: string; name?: string } } }).data
  return client?.name || client?.id || ''
}

function outcomeOf({ deliveredAtMs, nextAttemptAtMs, failure }: WebhookDelivery, nowMs: number): SafeHtml {
  if (deliveredAtMs !== undefined) return state('success', 'Delivered')
  const [result, next] =
    nextAttemptAtMs === undefined
      ? [state('danger', 'Failed'), '']
      : [state('warning', 'Waiting'), html`Next attempt ${relativeTime(nextAttemptAtMs, nowMs)}. `]
  return html`${result}<span class="cut below" title="${failure}">${next}${failure}</span>`
}

/** The only page that shows the signing secret. */
function signingSecretPage(request: DeveloperRequest, url: string, secret: string): PageContent {
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
