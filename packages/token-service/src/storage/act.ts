import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { AuditEventName } from './audit-event-names.ts'
import {
  type Actor,
  type AuditEvent,
  auditStorage,
  type Changes,
  type StoredAuditEntry,
} from './audit-storage.ts'
import { checkNewestKey } from './hash-keys.ts'
import type { ActQueue } from './act-queue.ts'
import { oneAfterAnother, type Database, type Query } from './database.ts'

/** Adds an entry about what the act did. */
export type Audit = (
  event: AuditEventName,
  about?: Pick<AuditEvent, 'clientId' | 'detail' | 'changes'>,
) => void

/** What allows somebody an act: it may end while the act waits for its turn. */
export interface Permission {
  readonly sessionHash: string
  /** Whether it is allowed because the person is an administrator. */
  readonly asAdministrator: boolean
  /** The projects that somebody who is no administrator must own. */
  readonly projectIds: readonly string[]
}

/** Who acts, and what allows it, unless something else does, such as a link or the administrator token. */
export interface Performer extends Actor {
  readonly permission?: Permission | undefined
}

/** The permission has ended. */
export class NoLongerAllowed extends Error {
  constructor() {
    super('The session has ended, or the person is no longer an administrator or owner.')
    this.name = 'NoLongerAllowed'
  }
}

/**
 * Something that the audit log must not miss: what it changes through this database and its entries are one transaction. One act runs
 * after another, so it may read first and then change.
 */
export interface Act extends Database {
  readonly audit: Audit
  readonly by: Actor
  readonly keyring: Keyring
  readonly clock: Clock
}

/**
 * Runs an act; what it throws undoes everything. Until it is done, only its own database may be used. Rejects with {@link NoLongerAllowed}
 * if the permission has ended meanwhile.
 */
export type Perform = <Result>(by: Performer, work: (act: Act) => Promise<Result>) => Promise<Result>

export interface PerformContext {
  readonly database: Database
  /** The one of the service: each act takes its turn in it. */
  readonly queue: ActQueue
  readonly keyring: Keyring
  readonly clock: Clock
  /** Called with each entry once it is committed. */
  readonly onCommitted: (entry: StoredAuditEntry) => void
}

export function createPerform({ database, queue, keyring, clock, onCommitted }: PerformContext): Perform {
  const perform: Perform = async ({ permission, ...by }, work) => {
    const { result, entries } = await oneAfterAnother(database, async (query) => {
      await checkNewestKey(query, keyring)
      if (permission) await checkPermission(query, permission, clock.now())
      const events: AuditEvent[] = []
      const audit: Audit = (event, about) => events.push({ event, ...by, ...about })
      const act = { ...database, query, audit, by, keyring, clock }
      const result = await work(act)
      const entries = events.map((event) => ({ ...event, atMs: clock.now(), count: 1 }))
      const ids = await auditStorage(act).append(entries)
      return { result, entries: entries.map((entry, index) => ({ id: ids[index]!, ...entry })) }
    })
    for (const entry of entries) onCommitted(entry)
    return result
  }
  return (by, work) => queue(by, () => perform(by, work))
}

async function checkPermission(query: Query, permission: Permission, nowMs: number): Promise<void> {
  const { sessionHash, asAdministrator, projectIds } = permission
  const person = await query
    .selectFrom('sessions')
    .innerJoin('developers', 'developers.id', 'sessions.developerId')
    .select(['developers.id', 'administrator'])
    .where('hash', '=', sessionHash)
    .where('expiresAtMs', '>', nowMs)
    .executeTakeFirst()
  if (!person || (asAdministrator && person.administrator !== 1)) throw new NoLongerAllowed()
  if (asAdministrator || projectIds.length === 0) return
  const owned = query.selectFrom('memberships').select('projectId').where('developerId', '=', person.id)
  const ownedIds = (await owned.execute()).map(({ projectId }) => projectId)
  if (!projectIds.every((id) => ownedIds.includes(id))) throw new NoLongerAllowed()
}

/** What the log says of an entry: of what was changed, the names alone. */
export function describeEntry({ id, event, changes, ...entry }: StoredAuditEntry) {
  const { actorType, actor, actorId, address, clientId } = entry
  return {
    auditId: id,
    event,
    actorType,
    actor,
    actorId,
    address,
    clientId,
    ...(changes && { changed: Object.keys(changes) }),
  }
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
