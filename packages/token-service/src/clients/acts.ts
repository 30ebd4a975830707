import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../runtime/clock.ts'
import type { Actor, AuditEvent, Changes } from '../storage/audit-storage.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import type { Keyring } from '../runtime/keyring.ts'
import { addWebhookEvents } from './webhook-events.ts'

/** Adds an entry about what the act did. */
export type Audit = (event: string, about?: Pick<AuditEvent, 'clientId' | 'detail' | 'changes'>) => void

/**
 * Does something that the audit log must not miss: the changes, their entries and the webhook's events are one transaction. One act runs
 * after another, so it may read first and then change; until it is done, only `stored` may be used.
 */
export type Act = <Result>(
  by: Actor,
  change: (stored: Transaction, audit: Audit) => Promise<Result>,
) => Promise<Result>

export interface ActContext {
  readonly storage: Pick<Storage, 'transaction'>
  readonly keyring: Keyring
  readonly clock: Clock
  readonly warn: (message: string) => void
}

export function createAct({ storage, keyring, clock, warn }: ActContext): Act {
  return (by, change) =>
    storage.transaction(async (stored) => {
      const events: AuditEvent[] = []
      const result = await change(stored, (event, about) => events.push({ event, ...by, ...about }))
      const entries = events.map((event) => ({ ...event, atMs: clock.now(), count: 1 }))
      const problem = entries.length > 0 ? await stored.audit.append(entries, keyring) : undefined
      if (problem !== undefined)
        warn(
          `The audit log begins anew, because ${problem}. \`tokenwell-service admin verify-audit\` tells more.`,
        )
      await addWebhookEvents(entries, stored)
      return result
    })
}

/** Of what the service does at its start, since its configuration says so. */
export const byConfiguration = { actorType: 'service', actor: 'configuration' } as const

/** What differs from the old values; without any, everything is new. */
export function changesOf(to: object, from: object = {}): Changes | undefined {
  const old = new Map<string, unknown>(Object.entries(from))
  const changed = Object.entries(to).filter(
    ([name, value]) => !isDeepStrictEqual(value ?? undefined, old.get(name)),
  )
  if (changed.length === 0) return undefined
  return Object.fromEntries(
    changed.map(([name, value]) => [name, { from: old.get(name), to: value as unknown }]),
  )
}
