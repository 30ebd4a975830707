import type { WebhookDelivery, WebhookStorage } from '../webhook-storage.ts'
import { countDeleted, inTransaction, type Database, type Schema } from './database.ts'

export function createSqlWebhook({ query }: Database): WebhookStorage {
  const find = () => query.selectFrom('webhook').selectAll().executeTakeFirst()

  const claim: WebhookStorage['claim'] = async (nowMs, retryAtMs) => {
    const due = await query
      .selectFrom('webhookEvents')
      .selectAll()
      .where('nextAttemptAtMs', '<=', nowMs)
      .orderBy('nextAttemptAtMs')
      .limit(1)
      .executeTakeFirst()
    if (!due) return undefined
    const attempts = due.attempts + 1
    const nextAttemptAtMs = retryAtMs(attempts) ?? null
    const { numUpdatedRows } = await query
      .updateTable('webhookEvents')
      .set({ attempts, nextAttemptAtMs })
      .where('id', '=', due.id)
      .where('attempts', '=', due.attempts)
      .executeTakeFirstOrThrow()
    // Another instance was faster.
    return numUpdatedRows === 0n ? claim(nowMs, retryAtMs) : toDelivery({ ...due, attempts, nextAttemptAtMs })
  }

  return {
    async find() {
      const found = await find()
      return (
        found && { url: found.url, encryptedSecret: found.encryptedSecret, createdAtMs: found.createdAtMs }
      )
    },
    async set(webhook) {
      await query
        .insertInto('webhook')
        .values({ id: 1, ...webhook, checkedUntilMs: 0 })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(webhook))
        .execute()
    },
    remove: () =>
      inTransaction(query, async (transaction) => {
        await transaction.deleteFrom('webhook').execute()
        await transaction.deleteFrom('webhookEvents').execute()
      }),
    async add(events) {
      if (events.length === 0) return
      await query
        .insertInto('webhookEvents')
        .values(
          events.map((event) => ({
            ...event,
            nextAttemptAtMs: event.attempts === 0 ? event.createdAtMs : null,
            deliveredAtMs: event.deliveredAtMs ?? null,
            failure: event.failure ?? null,
          })),
        )
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
    },
    async checkedUntilMs() {
      return (await find())?.checkedUntilMs ?? 0
    },
    async setCheckedUntil(checkedUntilMs) {
      await query.updateTable('webhook').set({ checkedUntilMs }).execute()
    },
    claim,
    async record(id, outcome) {
      const { failure = null, deliveredAtMs } = outcome
      const changes =
        deliveredAtMs === undefined ? { failure } : { failure, deliveredAtMs, nextAttemptAtMs: null }
      await query.updateTable('webhookEvents').set(changes).where('id', '=', id).execute()
    },
    async list(limit) {
      const rows = await query
        .selectFrom('webhookEvents')
        .selectAll()
        .orderBy('createdAtMs', 'desc')
        .limit(limit)
        .execute()
      return rows.map(toDelivery)
    },
    purge: (createdUntilMs) =>
      countDeleted(query.deleteFrom('webhookEvents').where('createdAtMs', '<=', createdUntilMs)),
  }
}

function toDelivery({
  nextAttemptAtMs,
  deliveredAtMs,
  failure,
  ...event
}: Schema['webhookEvents']): WebhookDelivery {
  return {
    ...event,
    ...(nextAttemptAtMs !== null && { nextAttemptAtMs }),
    ...(deliveredAtMs !== null && { deliveredAtMs }),
    ...(failure !== null && { failure }),
  }
}
