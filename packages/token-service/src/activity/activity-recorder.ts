import type { Clock } from '../platform/clock.ts'
import type { ActivityStorage, AuditEntry } from '../storage/storage.ts'

export type AuditEvent = Omit<AuditEntry, 'atMs' | 'count'>

/** Collects last uses, token counts and audit events, and writes them in batches, outside the token request. */
export interface ActivityRecorder {
  tokenIssued(applicationId: string, secretId: string): void
  audit(event: AuditEvent): void
  /** Writes the pending batch. */
  flush(): Promise<void>
  /** Writes the last batch. */
  close(): Promise<void>
}

export interface ActivityRecorderContext {
  readonly storage: ActivityStorage
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** @default 1000 */
  readonly delayMs?: number | undefined
}

const hourMs = 3_600_000
// Many different bad requests must fill neither the memory nor the audit log: the rest is counted as one entry.
const maxDistinctEvents = 1_000

export function createActivityRecorder(context: ActivityRecorderContext): ActivityRecorder {
  const { storage, clock, onError, delayMs = 1_000 } = context
  let lastUses = new Map<string, number>()
  let usage = new Map<string, number>()
  let audit = new Map<string, AuditEntry>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), delayMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const nowMs = clock.now()
    const hour = nowMs - (nowMs % hourMs)
    const batch = {
      lastUses: Array.from(lastUses, ([secretId, atMs]) => ({ secretId, atMs })),
      usage: Array.from(usage, ([applicationId, tokens]) => ({ applicationId, hourMs: hour, tokens })),
      audit: [...audit.values()],
    }
    lastUses = new Map()
    usage = new Map()
    audit = new Map()
    if (batch.lastUses.length + batch.usage.length + batch.audit.length === 0) return writing
    writing = writing.then(() => storage.record(batch)).catch(onError)
    return writing
  }

  return {
    tokenIssued(applicationId, secretId) {
      usage.set(applicationId, (usage.get(applicationId) ?? 0) + 1)
      lastUses.set(secretId, clock.now())
      schedule()
    },
    audit(event) {
      const full = audit.size >= maxDistinctEvents
      const kept: AuditEvent = full ? { event: event.event, detail: 'other' } : event
      const key = JSON.stringify([kept.event, kept.actor, kept.clientId, kept.address, kept.detail])
      audit.set(key, { ...kept, atMs: clock.now(), count: (audit.get(key)?.count ?? 0) + 1 })
      schedule()
    },
    flush,
    close: flush,
  }
}
