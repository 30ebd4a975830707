import { describe, expect, it } from 'vitest'
import { createActivityRecorder } from '../../src/storage/activity-recorder.ts'
import type { ActivityBatch } from '../../src/storage/activity-storage.ts'

function recorder(options: { fail?: Error } = {}) {
  const batches: ActivityBatch[] = []
  const errors: unknown[] = []
  const now = 7_200_000 + 5
  const activity = createActivityRecorder({
    storage: {
      async record(batch) {
        if (options.fail) throw options.fail
        batches.push(batch)
      },
      lastUses: async () => new Map(),
    },
    clock: { now: () => now },
    onError: (error) => errors.push(error),
    delayMs: 1,
  })
  return { activity, batches, errors, now }
}

describe('the activity recorder', () => {
  it('writes many token requests as one last use, and one count per hour and per minute', async () => {
    const { activity, batches, now } = recorder()
    const request = { clientId: 'client', address: '192.0.2.1' }
    for (let index = 0; index < 1000; index += 1) {
      activity.tokenRequested({ ...request, outcome: 'issued', used: ['secret'] })
    }
    activity.tokenRequested({ ...request, outcome: 'invalid_client' })
    await activity.flush()
    expect(batches).toEqual([
      {
        lastUses: [{ id: 'secret', atMs: now }],
        usage: [
          { clientId: 'client', outcome: 'issued', hourMs: 7_200_000, requests: 1000 },
          { clientId: 'client', outcome: 'invalid_client', hourMs: 7_200_000, requests: 1 },
        ],
        requests: [
          { ...request, outcome: 'issued', minuteMs: 7_200_000, atMs: now, count: 1000 },
          { ...request, outcome: 'invalid_client', minuteMs: 7_200_000, atMs: now, count: 1 },
        ],
        rehashed: [],
        events: [],
      },
    ])
  })

  it('writes after a delay', async () => {
    const { activity, batches } = recorder()
    activity.count({ event: 'request_rejected' })
    await expect.poll(() => batches.length, { timeout: 20_000 }).toBe(1)
  })

  it('counts equal events together, and limits the number of different ones', async () => {
    const { activity, batches } = recorder()
    activity.count({ event: 'request_rejected', clientId: 'a' })
    activity.count({ event: 'request_rejected', clientId: 'a' })
    for (let index = 0; index < 5000; index += 1)
      activity.count({ event: 'request_rejected', clientId: String(index) })
    await activity.flush()
    const events = batches[0]?.events ?? []
    expect(events[0]).toMatchObject({ clientId: 'a', count: 2 })
    expect(events.length).toBeLessThanOrEqual(1001)
    expect(events.reduce((sum, { count }) => sum + count, 0)).toBe(5002)
  })

  it('writes nothing when nothing happened', async () => {
    const { activity, batches } = recorder()
    await activity.close()
    expect(batches).toEqual([])
  })

  it('reports a storage failure and continues', async () => {
    const { activity, errors } = recorder({ fail: new Error('gone') })
    activity.count({ event: 'request_rejected' })
    await activity.flush()
    activity.count({ event: 'request_rejected' })
    await activity.close()
    expect(errors).toHaveLength(2)
  })
})
