import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { confirmClock } from '../../src/features/audit/acts.ts'
import { createPurge, purgeRegularly } from '../../src/service/purge.ts'
import { openMemory } from '../../src/storage/open-sqlite.ts'
import { createStorage, type Storage } from '../../src/features/context.ts'
import { openTestMemory, performOn, testKeyring } from '../storage/open-test-storage.ts'
import { serviceWithContext } from '../test-service.ts'

const dayMs = 86_400_000

it('repeats the purge regularly, despite errors', async () => {
  let runs = 0
  const errors: unknown[] = []
  const run = async () => {
    runs += 1
    if (runs === 1) throw new Error('gone')
  }
  const stop = purgeRegularly({ run }, (error) => errors.push(error), 1)
  await expect.poll(() => runs).toBeGreaterThan(2)
  await stop()
  const after = runs
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([runs, errors.length]).toEqual([after, 1])
})

it('keeps no process alive', async () => {
  const setTimer = vi.spyOn(globalThis, 'setInterval')
  const stop = purgeRegularly({ run: async () => {} }, () => {})
  expect(setTimer.mock.results[0]?.value.hasRef()).toBe(false)
  await stop()
  setTimer.mockRestore()
})

/** A purge whose clock is that of the test. */
function purgeOf(
  storage: Storage,
  time: { now: number; elapsed: number },
  warn: (message: string) => void = expect.unreachable,
) {
  return createPurge({
    storage,
    perform: performOn(storage, { clock: { now: () => time.now } }),
    keyring: testKeyring,
    clock: { now: () => time.now },
    elapsedMs: () => time.elapsed,
    warn,
    auditRetentionMs: 10,
    usageRetentionMs: 10,
  })
}

it('keeps token requests for a week', async () => {
  const storage = await openTestMemory()
  const weekMs = 7 * dayMs
  const requests = [weekMs, weekMs + 1].map((ageMs) => ({
    clientId: 'a-client',
    outcome: 'issued' as const,
    address: '192.0.2.1',
    minuteMs: -ageMs,
    atMs: -ageMs,
    count: 1,
  }))
  await storage.activity.record({ rehashed: [], lastUses: [], usage: [], events: [], requests })
  await purgeOf(storage, { now: 0, elapsed: 0 }).run()
  expect(await storage.activity.requests('a-client', 9)).toEqual([requests[0]])
})

it.each([
  [{}, 30, 365],
  [{ auditRetentionDays: 2, usageRetentionDays: 3 }, 2, 3],
])(
  'keeps counted events for 30 days or less, and the usage for the configured time: %o',
  async (options, eventDays, usageDays) => {
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
      rehashed: [],
      lastUses: [],
      requests: [],
      usage: around(usageDays).map((hourMs) => ({ clientId: 'a', outcome: 'issued', hourMs, requests: 1 })),
      events: around(eventDays).map((atMs) => ({ event: 'log_in_failed', atMs, count: 1 })),
    })
    vi.advanceTimersByTime(3_600_000)
    await expect.poll(async () => (await activity.usage('a', 0)).length).toBe(1)
    await expect.poll(async () => (await audit.list(9, { event: 'log_in_failed' })).length).toBe(1)
  },
)

describe('a clock that is ahead', () => {
  const hourMs = 3_600_000

  async function purging() {
    const time = { now: Date.UTC(2026, 0, 1), elapsed: 0 }
    const clock = { now: () => time.now }
    const storage = createStorage(await openMemory({ keyring: testKeyring, clock }))
    const warnings: string[] = []
    const perform = performOn(storage, { clock })
    const start = () => purgeOf(storage, time, (message) => void warnings.push(message))
    let purge = start()
    return {
      storage,
      warnings,
      clockJump: () => purge.clockJump(),
      /** Hours pass by the clock alone. */
      leap: (hours: number) => void (time.now += hours * hourMs),
      restart: () => void (purge = start()),
      confirm: () => perform({ actorType: 'command', actor: 'root' }, confirmClock),
      /** Lets hours pass, and others by the clock; returns whether a token that has just expired is then purged. */
      pass: async (hours: number, byClock = hours) => {
        time.now += byClock * hourMs
        time.elapsed += hours * hourMs
        const token = { ...expired, hash: String(time.elapsed + time.now), expiresAtMs: time.now }
        await storage.tokens.save(token)
        await purge.run()
        return (await storage.tokens.purge(time.now)) === 0
      },
    }
  }
  const expired = {
    applicationId: 'a',
    secretId: 's',
    audiences: [],
    generation: 0,
    products: [],
    scopes: [],
    issuedAtMs: 0,
  }

  it('purges nothing until an administrator confirms it', async () => {
    const { pass, warnings, clockJump, confirm, storage } = await purging()
    expect(await pass(1)).toBe(true)
    expect(await pass(1, 26)).toBe(false)
    expect(await pass(0.5)).toBe(false)
    expect(warnings).toEqual([
      'The clock shows 2026-01-02T03:00:00Z, and the last purge was at 2026-01-01T01:00:00Z: nothing is deleted until an administrator confirms the clock, in the portal under "Audit log" or with `tokenwell-service admin confirm-clock`.',
    ])
    expect(clockJump()).toEqual({ lastPurgeMs: Date.UTC(2026, 0, 1, 1) })
    expect(await pass(1)).toBe(false)
    expect(warnings).toHaveLength(2)
    await confirm()
    expect(await pass(1)).toBe(true)
    expect(clockJump()).toBeUndefined()
    expect(await storage.audit.list(1, { event: 'clock_confirmed' })).toMatchObject([
      {
        event: 'clock_confirmed',
        actorType: 'command',
        changes: { timeMs: { from: Date.UTC(2026, 0, 1, 1), to: Date.UTC(2026, 0, 2, 4, 30) } },
      },
    ])
  })

  it('by more than a minute purges nothing for an hour', async () => {
    const { pass, warnings, clockJump } = await purging()
    const minute = 1 / 60
    expect([await pass(1), await pass(minute, 2 * minute)]).toEqual([true, true])
    expect([await pass(minute, 3.1 * minute), await pass(0.9)]).toEqual([false, false])
    // It jumps once more: the hour begins anew.
    expect([await pass(0.05, 2), await pass(0.9), await pass(0.2)]).toEqual([false, false, true])
    expect([await pass(minute, 2), await pass(0, -2), await pass(minute)]).toEqual([false, true, true])
    expect([warnings, clockJump()]).toEqual([[], undefined])
  })

  it('purges again once it is set back', async () => {
    const { pass } = await purging()
    expect([await pass(1), await pass(1, 30), await pass(1, -28)]).toEqual([true, false, true])
  })

  it('is noticed after a restart, like a long outage', async () => {
    const { pass, leap, restart, confirm } = await purging()
    expect(await pass(1)).toBe(true)
    leap(24)
    restart()
    expect(await pass(0)).toBe(true)
    leap(25)
    restart()
    expect(await pass(0)).toBe(false)
    restart()
    expect(await pass(1)).toBe(false)
    await confirm()
    restart()
    expect(await pass(1)).toBe(true)
  })

  it('does not count while the service was running, however long', async () => {
    const { pass } = await purging()
    expect([await pass(1), await pass(48)]).toEqual([true, true])
  })

  it('is noticed if the time of the last purge is not the one that the service signed', async () => {
    const { pass, storage, warnings } = await purging()
    const otherKeyring = { ...testKeyring, hash: () => ({ keyId: testKeyring.keyIds[0]!, hash: 'AAAA' }) }
    await storage.purgeTime.set(Date.UTC(2030, 0, 1), otherKeyring)
    expect(await pass(1)).toBe(false)
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The time of the last purge is missing or was changed: nothing is deleted until /,
      ),
    ])
  })
})
