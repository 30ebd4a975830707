import { expect, it, vi } from 'vitest'
import { createMemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { purgeRegularly } from '../../src/tokens/purge-expired.ts'

it('purges expired tokens and failure counts regularly, despite errors', async () => {
  const storage = createMemoryStorage()
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

it('keeps no process alive', async () => {
  const setTimer = vi.spyOn(globalThis, 'setInterval')
  const stop = purgeRegularly({
    storage: createMemoryStorage(),
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
