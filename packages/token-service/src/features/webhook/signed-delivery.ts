import { createHmac } from 'node:crypto'
import type { Keyring } from '../../runtime/keyring.ts'
import type { Clock } from '../../runtime/clock.ts'
import { reasonOf, type PublicFetch } from '../../runtime/public-fetch.ts'
import { type ExpiringSecret, listingStorage } from '../search/listings.ts'
import type { Database } from '../../storage/database.ts'
import { webhookEvent } from './events.ts'
import { webhookStorage, type Webhook, type WebhookEvent, type WebhookOutcome } from './storage.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** The pauses between the attempts. The first one is longer than an attempt may take. */
const pausesMs = [
  minuteMs / 2,
  5 * minuteMs,
  minuteMs * 30,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
]
const timeoutMs = 15_000

/** How many days before its expiry a secret is reported, the nearest first. */
const expiryDays = [1, 7, 14, 30]
const secretsPerPage = 1_000
/** How long events are kept: longer than a secret is reported before it expires, so that none is reported twice. */
export const webhookRetentionMs = 31 * dayMs

/** The prefix of signing secrets (Standard Webhooks). */
export const signingSecretPrefix = 'whsec_'

export interface WebhookDeliveryContext {
  readonly database: Database
  readonly keyring: Pick<Keyring, 'decrypt'>
  readonly clock: Clock
  /** Sends the requests. */
  readonly send: PublicFetch
  readonly warn: (message: string) => void
  readonly onError: (error: unknown) => void
  /** How often the service looks for events. @default 5_000 */
  readonly pollMs?: number | undefined
}

/** Sends the events of the webhook, each until the receiver accepts it or for three days. */
export interface WebhookSender {
  /** Sends an event once, now. */
  attempt(webhook: Webhook, event: WebhookEvent): Promise<WebhookOutcome>
  /** Attempts that are under way end, and are repeated later. */
  stop(): Promise<void>
}

export function createWebhookSender(context: WebhookDeliveryContext): WebhookSender {
  const { database, keyring, clock, send, warn, onError, pollMs = 5_000 } = context
  const storage = webhookStorage(database)
  const stopping = new AbortController()
  let isFailing = false

  const retryAtMs = (attempts: number) => {
    const pauseMs = pausesMs[attempts - 1]
    return pauseMs === undefined ? undefined : clock.now() + pauseMs
  }

  async function attempt(webhook: Webhook, { id, body }: WebhookEvent): Promise<WebhookOutcome> {
    const secret = await keyring.decrypt(webhook.encryptedSecret)
    if (secret === undefined) return { failure: 'The signing secret cannot be decrypted' }
    const timestamp = String(Math.floor(clock.now() / 1000))
    try {
      const response = await send(webhook.url, {
        body,
        headers: {
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${sign(secret, `${id}.${timestamp}.${body}`)}`,
        },
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]),
      })
      await response.body?.cancel()
      return { deliveredAtMs: clock.now() }
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError')
        return { failure: `No response within ${timeoutMs / 1000} seconds` }
      return { failure: reasonOf(error).replace(/\.$/, '') }
    }
  }

  /** Sends an event that is due; returns whether there was one. */
  async function deliverNext(webhook: Webhook): Promise<boolean> {
    const event = await storage.claim(clock.now(), retryAtMs)
    if (!event) return false
    const outcome = await attempt(webhook, event)
    if (stopping.signal.aborted) return false
    await storage.record(event.id, outcome)
    const { failure } = outcome
    const isLast = event.nextAttemptAtMs === undefined
    if (failure !== undefined && (isLast || !isFailing)) {
      const consequence = isLast ? 'It is not sent again' : 'It is sent again later'
      warn(
        `The webhook at ${new URL(webhook.url).host} did not accept ${event.type} ${event.id}: ${failure}. ${consequence}.`,
      )
    }
    isFailing = failure !== undefined
    return true
  }

  async function deliverAll(): Promise<void> {
    const webhook = await storage.find()
    if (!webhook) return
    await addExpiringSecrets(context)
    while (!stopping.signal.aborted && (await deliverNext(webhook)));
  }

  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= deliverAll()
      .catch(onError)
      .finally(() => (running = undefined))
  }, pollMs)
  timer.unref()

  return {
    attempt,
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await running
    },
  }
}

function sign(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(signingSecretPrefix.length), 'base64')
  return createHmac('sha256', key).update(text).digest('base64')
}

/** Reports each secret once at each distance from its expiry; after an outage, at the nearest one only. */
async function addExpiringSecrets({
  database,
  clock,
}: Pick<WebhookDeliveryContext, 'database' | 'clock'>): Promise<void> {
  const storage = webhookStorage(database)
  const listings = listingStorage(database)
  const nowMs = clock.now()
  const checkedUntilMs = await storage.checkedUntilMs()
  if (nowMs - checkedUntilMs < minuteMs) return
  let nearerMs = nowMs
  for (const days of expiryDays) {
    const untilMs = nowMs + days * dayMs
    const period = [Math.max(checkedUntilMs + days * dayMs, nearerMs), untilMs] as const
    nearerMs = untilMs
    for (let offset = 0, more = true; more; offset += secretsPerPage) {
      const { items } = await listings.expiringSecrets(period, { limit: secretsPerPage, offset })
      await storage.add(items.map((secret) => expiryEvent(secret, days, nowMs)))
      more = items.length === secretsPerPage
    }
  }
  await storage.setCheckedUntil(nowMs)
}

function expiryEvent(
  { id, prefix, owner, expiresAtMs, lastUsedAtMs }: ExpiringSecret,
  days: number,
  nowMs: number,
) {
  const isoTime = (ms: number) => new Date(ms).toISOString()
  const data = {
    client: { id: owner.clientId, name: owner.name },
    secret: {
      id,
      prefix,
      expiresAt: isoTime(expiresAtMs),
      ...(lastUsedAtMs !== undefined && { lastUsedAt: isoTime(lastUsedAtMs) }),
    },
  }
  return webhookEvent('credential.expiring', nowMs, data, `${id}_${days}`)
}
