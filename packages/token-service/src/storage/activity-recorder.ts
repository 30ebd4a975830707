import { networkOf } from '../runtime/ip-addresses.ts'
import type { Clock } from '../runtime/clock.ts'
import {
  otherEvent,
  type ActivityStorage,
  type CountedEvent,
  type TokenRequestEntry,
  type TokenRequestOutcome,
  type UsageEntry,
} from './activity-storage.ts'
import type { RehashedSecret } from './hash-keys.ts'
import type { AuditEntry, AuditEvent } from './audit-storage.ts'

export interface TokenRequest {
  readonly clientId: string
  readonly outcome: TokenRequestOutcome
  readonly address: string
  /** The IDs of the application and of its secret or public key, if they were used. */
  readonly used?: readonly string[] | undefined
}

/** Collects last uses, token requests and events, and writes them in batches, outside the token request. */
export interface ActivityRecorder {
  tokenRequested(request: TokenRequest): void
  /** Records a use of the applications, resource servers, secrets or keys with these IDs. */
  used(ids: readonly string[]): void
  /** Hashes a secret with the newest key. */
  rehash(secret: Omit<RehashedSecret, 'atMs'>): void
  /** For the audit log: an event that anybody can cause any number of times, such as a failed login. */
  count(event: CountedEvent): void
  /** When these were last used, by ID. */
  lastUses(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Writes the pending batch. */
  flush(): Promise<void>
  /** Writes the last batch. */
  close(): Promise<void>
}

export interface ActivityRecorderContext {
  readonly storage: Pick<ActivityStorage, 'record' | 'lastUses'>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** @default 1000 */
  readonly delayMs?: number | undefined
}

type Counting<Entry> = { -readonly [Member in keyof Entry]: Entry[Member] }

const minuteMs = 60_000
const hourMs = 3_600_000
// Many different bad requests must fill neither memory nor the audit log, so the rest are counted as one entry.
const maxDistinctEvents = 1_000

export function createActivityRecorder(context: ActivityRecorderContext): ActivityRecorder {
  const { storage, clock, onError, delayMs = 1_000 } = context
  let lastUses = new Map<string, number>()
  let usage = new Map<string, Counting<UsageEntry>>()
  let requests = new Map<string, Counting<TokenRequestEntry>>()
  let rehashed = new Map<string, RehashedSecret>()
  let events = new Map<string, AuditEntry>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), delayMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const batch = {
      lastUses: Array.from(lastUses, ([id, atMs]) => ({ id, atMs })),
      usage: [...usage.values()],
      requests: [...requests.values()],
      rehashed: [...rehashed.values()],
      events: [...events.values()],
    }
    lastUses = new Map()
    usage = new Map()
    requests = new Map()
    rehashed = new Map()
    events = new Map()
    // Token requests are counted in the usage too.
    const { lastUses: used, usage: counted, rehashed: hashes, events: happened } = batch
    if ([used, counted, hashes, happened].every(({ length }) => length === 0)) return writing
    writing = writing.then(() => storage.record(batch)).catch(onError)
    return writing
  }

  return {
    tokenRequested({ clientId, outcome, address: from, used = [] }) {
      // Anybody can send what is rejected, from any address of their network.
      const address = outcome === 'issued' ? from : networkOf(from)
      const atMs = clock.now()
      const hour = atMs - (atMs % hourMs)
      const minute = atMs - (atMs % minuteMs)
      // No part contains a line break.
      const usageKey = `${clientId}\n${outcome}\n${hour}`
      const ofHour = usage.get(usageKey)
      if (ofHour) ofHour.requests += 1
      else usage.set(usageKey, { clientId, outcome, hourMs: hour, requests: 1 })
      for (const id of used) lastUses.set(id, atMs)
      const key = `${clientId}\n${outcome}\n${minute}\n${address}`
      const request = requests.get(key)
      if (request) {
        request.count += 1
        request.atMs = atMs
      } else if (requests.size < maxDistinctEvents) {
        requests.set(key, { clientId, outcome, address, minuteMs: minute, atMs, count: 1 })
      }
      schedule()
    },
    used(ids) {
      for (const id of ids) lastUses.set(id, clock.now())
      schedule()
    },
    rehash(secret) {
      rehashed.set(secret.id, { ...secret, atMs: clock.now() })
      schedule()
    },
    count(event) {
      const full = events.size >= maxDistinctEvents
      const { address } = event
      const counted = { ...event, ...(address !== undefined && { address: networkOf(address) }) }
      const kept: AuditEvent = full ? otherEvent(event) : counted
      const key = JSON.stringify([kept.event, kept.actor, kept.clientId, kept.address, kept.detail])
      events.set(key, { ...kept, atMs: clock.now(), count: (events.get(key)?.count ?? 0) + 1 })
      schedule()
    },
    async lastUses(ids) {
      await flush()
      return storage.lastUses(ids)
    },
    flush,
    close: flush,
  }
}
