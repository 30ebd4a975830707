import { randomUUID } from 'node:crypto'
import type { AuditEntry } from '../storage/audit-storage.ts'
import type { Database } from '../storage/sql/database.ts'
import { changeableParts } from '../storage/sql/sql-storage.ts'
import type { Transaction } from '../storage/storage.ts'
import type { WebhookDelivery } from '../storage/webhook-storage.ts'

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
  const stored = changeableParts(act)
  const reported = entries.flatMap((entry) => {
    const type = typeOf(entry)
    return type && entry.clientId !== undefined ? [{ ...entry, type, clientId: entry.clientId }] : []
  })
  if (reported.length === 0 || !(await stored.webhook.find())) return
  for (const { type, atMs, clientId, detail, actorType, actor } of reported) {
    const data = {
      client: { id: clientId, name: await nameOf(clientId, stored) },
      ...(type === 'secret.revoked' && { secret: { id: detail } }),
      actor: { type: actorType, name: actor },
    }
    await stored.webhook.add([webhookEvent(type, atMs, data)])
  }
}

function typeOf({ event, changes = {} }: AuditEntry): WebhookEventType | undefined {
  if (event === 'secret_revoked') return 'secret.revoked'
  const isRequested = changes['status']?.to === 'pending' || Boolean(changes['requested']?.to)
  return isRequested ? 'approval.requested' : undefined
}

async function nameOf(clientId: string, stored: Transaction): Promise<string | undefined> {
  const client = await stored.applications.findClient(clientId)
  return client?.application.name ?? (await stored.resourceServers.find(clientId))?.name
}
