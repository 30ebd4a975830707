import { randomBytes } from 'node:crypto'
import { changesOf } from '../storage/act.ts'
import type { RegistryContext } from '../clients/credential-registry.ts'
import type { Keyring } from '../runtime/keyring.ts'
import { webhookEvent } from '../clients/webhook-events.ts'
import { NotFoundError, UsageError } from '../runtime/usage-error.ts'
import type { Actor } from '../storage/audit-storage.ts'
import type { Webhook, WebhookDelivery, WebhookStorage } from '../storage/webhook-storage.ts'
import { signingSecretPrefix, type WebhookSender } from './webhook-delivery.ts'

/** Changes the webhook; each change is written to the audit log. */
export interface WebhookRegistry {
  /**
   * Returns the signing secret, which cannot be read again; events that wait are sent to the new URL.
   * @throws {@link UsageError} unless it is an https URL without credentials
   */
  set(url: string): Promise<string>
  /** Events that wait are not sent. @throws {@link NotFoundError} without a webhook */
  remove(): Promise<void>
  /** Sends an event at once; resolves with what became of it. @throws {@link NotFoundError} without a webhook */
  test(): Promise<WebhookDelivery>
}

export interface WebhookRegistryContext extends RegistryContext {
  readonly storage: { readonly webhook: Pick<WebhookStorage, 'add'> }
  readonly sender: Pick<WebhookSender, 'attempt'>
}

export function createWebhookRegistry(
  { act, keyring, clock, storage, sender }: WebhookRegistryContext,
  by: Actor,
): WebhookRegistry {
  return {
    async set(url) {
      checkUrl(url)
      const secret = signingSecretPrefix + randomBytes(32).toString('base64')
      const encryptedSecret = await keyring.encrypt(secret)
      await act(by, async ({ webhook }, audit) => {
        const current = await webhook.find()
        await webhook.set({ url, encryptedSecret, createdAtMs: clock.now() })
        audit('webhook_set', {
          detail: new URL(url).host,
          changes: changesOf({ url }, { url: current?.url }),
        })
      })
      return secret
    },
    remove: () =>
      act(by, async ({ webhook }, audit) => {
        const { url } = await existing(webhook)
        await webhook.remove()
        audit('webhook_removed', { detail: new URL(url).host })
      }),
    async test() {
      const event = webhookEvent('webhook.test', clock.now(), {})
      const tested = await act(by, async ({ webhook }, audit) => {
        const found = await existing(webhook)
        audit('webhook_tested', { detail: new URL(found.url).host })
        return found
      })
      const sent = { ...event, attempts: 1, ...(await sender.attempt(tested, event)) }
      await storage.webhook.add([sent])
      return sent
    },
  }
}

/** Encrypts the signing secret with the newest key, so that an older key of the keyring can be removed. */
export async function renewSigningSecret(
  webhook: WebhookStorage,
  { withNewestKey }: Pick<Keyring, 'withNewestKey'>,
): Promise<void> {
  const current = await webhook.find()
  if (!current) return
  const encryptedSecret = await withNewestKey(current.encryptedSecret)
  if (encryptedSecret !== undefined && encryptedSecret !== current.encryptedSecret)
    await webhook.set({ ...current, encryptedSecret })
}

async function existing(webhook: WebhookStorage): Promise<Webhook> {
  const found = await webhook.find()
  if (found) return found
  throw new NotFoundError('There is no webhook. Set one first.')
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'https:' && url.username === '' && url.password === '' && url.hash === '') return
  throw new UsageError('The URL of the webhook must be an https URL without credentials and fragment.')
}
