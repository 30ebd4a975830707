import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import type { Keyring } from '../../runtime/keyring.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { changesOf, type Act, type Perform } from '../../storage/act.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import type { Database } from '../../storage/database.ts'
import { signingSecretPrefix, type WebhookSender } from './signed-delivery.ts'
import { webhookEvent } from './events.ts'
import { webhookStorage, type Webhook, type WebhookDelivery } from './storage.ts'

/**
 * Returns the signing secret, which cannot be read again; events that wait are sent to the new URL.
 *
 * @throws {@link UsageError} unless it is an https URL without credentials
 */
export async function setWebhook(act: Act, url: string): Promise<string> {
  checkUrl(url)
  const webhook = webhookStorage(act)
  const secret = signingSecretPrefix + randomBytes(32).toString('base64')
  const encryptedSecret = await act.keyring.encrypt(secret)
  const current = await webhook.find()
  await webhook.set({ url, encryptedSecret, createdAtMs: act.clock.now() })
  act.audit('webhook_set', { detail: new URL(url).host, changes: changesOf({ url }, { url: current?.url }) })
  return secret
}

/** Events that wait are not sent. @throws {@link NotFoundError} without a webhook */
export async function removeWebhook(act: Act): Promise<void> {
  const { url } = await existing(act)
  await webhookStorage(act).remove()
  act.audit('webhook_removed', { detail: new URL(url).host })
}

interface WebhookContext {
  readonly perform: Perform
  readonly database: Database
  readonly clock: Clock
  readonly webhookSender: Pick<WebhookSender, 'attempt'>
}

/** Sends an event at once; resolves with what became of it. @throws {@link NotFoundError} without a webhook */
export async function testWebhook(
  { perform, database, clock, webhookSender }: WebhookContext,
  by: Actor,
): Promise<WebhookDelivery> {
  const event = webhookEvent('webhook.test', clock.now(), {})
  const tested = await perform(by, async (act) => {
    const found = await existing(act)
    act.audit('webhook_tested', { detail: new URL(found.url).host })
    return found
  })
  const sent = { ...event, attempts: 1, ...(await webhookSender.attempt(tested, event)) }
  await webhookStorage(database).add([sent])
  return sent
}

/** Encrypts the signing secret with the newest key, so that an older key of the keyring can be removed. */
export async function renewSigningSecret(
  database: Database,
  { withNewestKey }: Pick<Keyring, 'withNewestKey'>,
): Promise<void> {
  const webhook = webhookStorage(database)
  const current = await webhook.find()
  if (!current) return
  const encryptedSecret = await withNewestKey(current.encryptedSecret)
  if (encryptedSecret !== undefined) await webhook.set({ ...current, encryptedSecret })
}

async function existing(act: Act): Promise<Webhook> {
  const found = await webhookStorage(act).find()
  if (found) return found
  throw new NotFoundError('There is no webhook. Set one first.')
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'https:' && url.username === '' && url.password === '' && url.hash === '') return
  throw new UsageError('The URL of the webhook must be an https URL without credentials and fragment.')
}
