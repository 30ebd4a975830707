import type { ActivityStorage, AuditEntry, AuditFilter, TokenRequestEntry, UsageEntry } from '../storage.ts'

const maxAuditEntries = 10_000

/** `existing` returns the IDs of what can be used. */
export function createMemoryActivity(existing: () => Promise<readonly string[]>): ActivityStorage {
  const lastUses = new Map<string, number>()
  const usage = new Map<string, UsageEntry>()
  const requests = new Map<string, TokenRequestEntry>()
  const audit: AuditEntry[] = []
  return {
    async record(batch) {
      for (const { id, atMs } of batch.lastUses) {
        lastUses.set(id, Math.max(lastUses.get(id) ?? 0, atMs))
      }
      for (const entry of batch.usage) {
        const key = JSON.stringify([entry.clientId, entry.hourMs, entry.outcome])
        usage.set(key, { ...entry, requests: entry.requests + (usage.get(key)?.requests ?? 0) })
      }
      for (const entry of batch.requests) {
        const key = JSON.stringify([entry.clientId, entry.minuteMs, entry.address, entry.outcome])
        requests.set(key, { ...entry, count: entry.count + (requests.get(key)?.count ?? 0) })
      }
      audit.push(...batch.audit)
      audit.splice(0, audit.length - maxAuditEntries)
    },
    lastUses: async (ids) => new Map([...lastUses].filter(([id]) => ids.includes(id))),
    async purgeLastUses(beforeMs) {
      const ids = new Set(await existing())
      const old = [...lastUses].filter(([id, atMs]) => atMs < beforeMs && !ids.has(id))
      for (const [id] of old) lastUses.delete(id)
      return old.length
    },
    async usage(clientId, sinceMs) {
      return [...usage.values()]
        .filter((entry) => entry.clientId === clientId && entry.hourMs >= sinceMs)
        .sort((a, b) => a.hourMs - b.hourMs)
    },
    async purgeUsage(beforeMs) {
      const old = [...usage].filter(([, entry]) => entry.hourMs < beforeMs)
      for (const [key] of old) usage.delete(key)
      return old.length
    },
    async requests(clientId, limit) {
      return [...requests.values()]
        .filter((entry) => entry.clientId === clientId)
        .sort((a, b) => b.atMs - a.atMs)
        .slice(0, limit)
    },
    async purgeRequests(beforeMs) {
      const old = [...requests].filter(([, { atMs }]) => atMs < beforeMs)
      for (const [key] of old) requests.delete(key)
      return old.length
    },
    async audit(limit, filter = {}) {
      return audit
        .filter((entry) => matches(entry, filter))
        .toReversed()
        .slice(0, limit)
    },
    async purgeAudit(beforeMs) {
      const before = audit.length
      audit.splice(0, audit.length, ...audit.filter(({ atMs }) => atMs >= beforeMs))
      return before - audit.length
    },
  }
}

function matches(
  entry: AuditEntry,
  { sinceMs = 0, untilMs = Infinity, events, ...equal }: AuditFilter,
): boolean {
  return (
    entry.atMs >= sinceMs &&
    entry.atMs < untilMs &&
    (events?.includes(entry.event) ?? true) &&
    Object.entries(equal).every(
      ([name, value]) => value === undefined || entry[name as keyof AuditEntry] === value,
    )
  )
}
