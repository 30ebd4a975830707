import { randomUUID } from 'node:crypto'
import type { Database } from '../../storage/database.ts'
import type { AuditEntry } from '../../storage/audit-storage.ts'
import { applicationStorage } from '../applications/storage.ts'
import { resourceServerStorage } from '../resource-servers/storage.ts'
import { webhookStorage, type WebhookDelivery } from './storage.ts'

/** What the webhook reports. */
export type WebhookEventType =
  | 'approval.requested'
  | 'secret.revoked'
  | 'credential.expiring'
  | 'webhook.test'

/** @param key what identifies the event, if it can be found more than once */
export function webhookEvent(
  type: WebhookEventType,
  createdAtMs: number,
  data: object,
  key: string = randomUUID(),
): WebhookDelivery {
  const timestamp = new Date(createdAtMs).toISOString()
  return { id: `msg_${key}`, type, body: JSON.stringify({ type, timestamp, data }), createdAtMs, attempts: 0 }
}

/** Adds those entries of the audit log that the webhook reports, if there is a webhook. */
export async function addWebhookEvents(entries: readonly AuditEntry[], act: Database): Promise<void> {
  const reported = entries.flatMap((entry) => {
    const type = typeOf(entry)
    return type && entry.clientId !== undefined ? [{ ...entry, type, clientId: entry.clientId }] : []
  })
  if (reported.length === 0) return
  const webhook = webhookStorage(act)
  if (!(await webhook.find())) return
  for (const { type, atMs, clientId, detail, actorType, actor } of reported) {
    const data = {
      client: { id: clientId, name: await nameOf(clientId, act) },
      ...(type === 'secret.revoked' && { secret: { id: detail } }),
      actor: { type: actorType, name: actor },
    }
    await webhook.add([webhookEvent(type, atMs, data)])
  }
}

function typeOf({ event, changes = {} }: AuditEntry): WebhookEventType | undefined {
  if (event === 'secret_revoked') return 'secret.revoked'
  const isRequested = changes['status']?.to === 'pending' || Boolean(changes['requested']?.to)
  return isRequested ? 'approval.requested' : undefined
}

async function nameOf(clientId: string, act: Database): Promise<string | undefined> {
  const client = await applicationStorage(act).findClient(clientId)
  return client?.application.name ?? (await resourceServerStorage(act).find(clientId))?.name
}
