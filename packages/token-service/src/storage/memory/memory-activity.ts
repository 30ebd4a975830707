import type { ActivityBatch, ActivityStorage, AuditEntry, UsageEntry } from '../storage.ts'

const maxAuditEntries = 10_000

export function createMemoryActivity(used: (lastUses: ActivityBatch['lastUses']) => void): ActivityStorage {
  const usage = new Map<string, UsageEntry>()
  const audit: AuditEntry[] = []
  return {
    async record(batch) {
      used(batch.lastUses)
      for (const entry of batch.usage) {
        const key = `${entry.applicationId} ${entry.hourMs}`
        usage.set(key, { ...entry, tokens: entry.tokens + (usage.get(key)?.tokens ?? 0) })
      }
      audit.push(...batch.audit)
      audit.splice(0, audit.length - maxAuditEntries)
    },
    async usage(applicationId, sinceMs) {
      return [...usage.values()]
        .filter((entry) => entry.applicationId === applicationId && entry.hourMs >= sinceMs)
        .sort((a, b) => a.hourMs - b.hourMs)
    },
    async audit(limit) {
      return audit.slice(-limit).toReversed()
    },
    async purgeAudit(beforeMs) {
      const before = audit.length
      audit.splice(0, audit.length, ...audit.filter(({ atMs }) => atMs >= beforeMs))
      return before - audit.length
    },
  }
}
