import { expect, it, onTestFinished, vi } from 'vitest'
import { purgeRegularly } from '../../src/oauth/purge-expired.ts'
import { serviceWithContext } from '../test-service.ts'
import { openTestMemory } from '../storage/open-test-storage.ts'

it('purges expired tokens and failure counts regularly, despite errors', async () => {
  const storage = await openTestMemory()
  const purged: number[] = []
  const errors: unknown[] = []
  let failing = true
  const stop = purgeRegularly({
    storage: {
      ...storage,
      tokens: {
        ...storage.tokens,
        async purge(nowMs) {
          if (failing) {
            failing = false
            throw new Error('gone')
          }
          purged.push(nowMs)
          return 0
        },
      },
    },
    sign: () => expect.unreachable(),
    clock: { now: () => 42 },
    onError: (error) => errors.push(error),
    auditRetentionMs: 10,
    usageRetentionMs: 10,
    intervalMs: 1,
  })
  await expect.poll(() => purged.length, { timeout: 20_000 }).toBeGreaterThan(1)
  await stop()
  const after = purged.length
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([purged.length, purged[0], errors.length]).toEqual([after, 42, 1])
})

it('keeps token requests for a week', async () => {
  const storage = await openTestMemory()
  const weekMs = 7 * 86_400_000
  const requests = [weekMs, weekMs + 1].map((ageMs) => ({
    clientId: 'a-client',
    outcome: 'issued' as const,
    address: '192.0.2.1',
    minuteMs: -ageMs,
    atMs: -ageMs,
    count: 1,
  }))
  await storage.activity.record({ lastUses: [], usage: [], events: [], requests })
  const stop = purgeRegularly({
    storage,
    sign: () => expect.unreachable(),
    clock: { now: () => 0 },
    onError: () => expect.unreachable(),
    auditRetentionMs: 10,
    usageRetentionMs: 10,
    intervalMs: 1,
  })
  onTestFinished(stop)
  await expect.poll(() => storage.activity.requests('a-client', 9)).toEqual([requests[0]])
})

it('keeps no process alive', async () => {
  const setTimer = vi.spyOn(globalThis, 'setInterval')
  const stop = purgeRegularly({
    storage: await openTestMemory(),
    sign: () => expect.unreachable(),
    clock: { now: () => 42 },
    onError: () => {},
    auditRetentionMs: 10,
    usageRetentionMs: 10,
    intervalMs: 1_000,
  })
  expect(setTimer.mock.results[0]?.value.hasRef()).toBe(false)
  await stop()
  setTimer.mockRestore()
})

const dayMs = 86_400_000

it.each([
  [{}, 365, 365],
  [{ auditRetentionDays: 2, usageRetentionDays: 3 }, 2, 3],
])('keeps the audit log and the usage for the configured time: %o', async (options, auditDays, usageDays) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const nowMs = 1_000 * dayMs
  const { context } = await serviceWithContext({
    clock: { now: () => nowMs },
    applications: [],
    resourceServers: [],
    ...options,
  })
  const { activity, audit } = context.storage
  const around = (days: number) => [days * dayMs, days * dayMs + 1].map((ageMs) => nowMs - ageMs)
  await activity.record({
    lastUses: [],
    requests: [],
    usage: around(usageDays).map((hourMs) => ({ clientId: 'a', outcome: 'issued', hourMs, requests: 1 })),
    events: around(auditDays).map((atMs) => ({ event: 'a', atMs, count: 1 })),
  })
  vi.advanceTimersByTime(3_600_000)
  await expect.poll(async () => (await activity.usage('a', 0)).length).toBe(1)
  await expect.poll(async () => (await audit.list(9)).length).toBe(1)
})
