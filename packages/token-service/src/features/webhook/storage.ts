import { countDeleted, inTransaction, type Database } from '../../storage/database.ts'
import type { Schema } from '../../storage/schema.ts'

/** Where events are sent. */
export interface Webhook {
  readonly url: string
  /** What the requests are signed with, encrypted. */
  readonly encryptedSecret: string
  readonly createdAtMs: number
}

/** Something that the webhook reports. */
export interface WebhookEvent {
  /** The same for each attempt, and for each instance that finds the event. */
  readonly id: string
  readonly type: string
  /** The body of the request, JSON. */
  readonly body: string
  readonly createdAtMs: number
}

/** An event, and what became of it. */
export interface WebhookDelivery extends WebhookEvent {
  readonly attempts: number
  /** `undefined`: it was delivered, or the last attempt failed. */
  readonly nextAttemptAtMs?: number | undefined
  readonly deliveredAtMs?: number | undefined
  /** Why the last attempt failed. */
  readonly failure?: string | undefined
}

/** What became of an attempt. */
export type WebhookOutcome =
  | { readonly deliveredAtMs: number; readonly failure?: undefined }
  | { readonly failure: string; readonly deliveredAtMs?: undefined }

/** The webhook, and its events until they are purged. */
export function webhookStorage({ query }: Pick<Database, 'query'>) {
  const find = () => query.selectFrom('webhook').selectAll().where('id', '=', 1).executeTakeFirst()

  /**
   * Takes one of the events that are due: it counts as tried, and is due again at the time that `retryAtMs` returns. Of
   * several instances, one gets it.
   */
  async function claim(
    nowMs: number,
    retryAtMs: (attempts: number) => number | undefined,
  ): Promise<WebhookDelivery | undefined> {
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
    async find(): Promise<Webhook | undefined> {
      const found = await find()
      return (
        found && { url: found.url, encryptedSecret: found.encryptedSecret, createdAtMs: found.createdAtMs }
      )
    },
    /** In place of the one before; its events stay. */
    async set(webhook: Webhook): Promise<void> {
      await query
        .insertInto('webhook')
        .values({ id: 1, ...webhook, checkedUntilMs: 0 })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(webhook))
        .execute()
    },
    /** With its events. */
    remove: (): Promise<void> =>
      inTransaction(query, async (transaction) => {
        await transaction.deleteFrom('webhook').execute()
        await transaction.deleteFrom('webhookEvents').execute()
      }),
    /** Events that are known are ignored. Those without an attempt are due at once, the others never. */
    async add(events: readonly WebhookDelivery[]): Promise<void> {
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
    /** Until when expiring credentials were looked for: 0 for a new webhook. */
    async checkedUntilMs(): Promise<number> {
      return (await find())?.checkedUntilMs ?? 0
    },
    async setCheckedUntil(checkedUntilMs: number): Promise<void> {
      await query.updateTable('webhook').set({ checkedUntilMs }).execute()
    },
    claim,
    async record(id: string, outcome: WebhookOutcome): Promise<void> {
      const { failure = null, deliveredAtMs } = outcome
      const changes =
        deliveredAtMs === undefined ? { failure } : { failure, deliveredAtMs, nextAttemptAtMs: null }
      await query.updateTable('webhookEvents').set(changes).where('id', '=', id).execute()
    },
    /** The newest first. */
    async list(limit: number): Promise<WebhookDelivery[]> {
      const rows = await query
        .selectFrom('webhookEvents')
        .selectAll()
        .orderBy('createdAtMs', 'desc')
        .limit(limit)
        .execute()
      return rows.map(toDelivery)
    },
    /** Deletes the events that were created by then; returns how many. */
    purge: (createdUntilMs: number): Promise<number> =>
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
