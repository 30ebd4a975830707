import type { Clock } from '../clock.ts'
import type { ActivityStorage, AuditEntry } from '../storage/storage.ts'

export type AuditEvent = Omit<AuditEntry, 'atMs' | 'count'>

/** Gathers last uses, counts of tokens and the audit log, and writes them together, away from the hot path. */
export interface ActivityRecorder {
  tokenIssued(applicationId: string, secretId: string): void
  audit(event: AuditEvent): void
  /** Writes what has gathered. */
  flush(): Promise<void>
  /** Writes what has gathered, for the last time. */
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
// Who sends ever new nonsense must not fill the memory, nor the audit log: what is over this is counted together.
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
      const kept: AuditEvent = full ? { event: event.event, detail: 'and others' } : event
      const key = JSON.stringify([kept.event, kept.clientId, kept.address, kept.detail])
      audit.set(key, { ...kept, atMs: clock.now(), count: (audit.get(key)?.count ?? 0) + 1 })
      schedule()
    },
    flush,
    close: flush,
  }
}
