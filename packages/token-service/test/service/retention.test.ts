import { expect, it, onTestFinished, vi } from 'vitest'
import { serviceWithContext } from '../service-context.ts'

const dayMs = 86_400_000

it.each([
  [{}, 365, 365],
  [{ auditRetentionDays: 2, usageRetentionDays: 3 }, 2, 3],
])('keeps the audit log and the usage for the configured time: %o', async (options, auditDays, usageDays) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const nowMs = 1_000 * dayMs
  const { context } = await serviceWithContext({ clock: { now: () => nowMs }, applications: [], ...options })
  const { activity } = context.storage
  const around = (days: number) => [days * dayMs, days * dayMs + 1].map((ageMs) => nowMs - ageMs)
  await activity.record({
    lastUses: [],
    requests: [],
    usage: around(usageDays).map((hourMs) => ({ clientId: 'a', outcome: 'issued', hourMs, requests: 1 })),
    audit: around(auditDays).map((atMs) => ({ event: 'a', atMs, count: 1 })),
  })
  vi.advanceTimersByTime(3_600_000)
  await expect.poll(async () => (await activity.usage('a', 0)).length).toBe(1)
  await expect.poll(async () => (await activity.audit(9)).length).toBe(1)
})
