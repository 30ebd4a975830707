import { expect, it } from 'vitest'
import { createFailedAttemptLimit } from '../../src/oauth/failed-attempt-limit.ts'
import { openMemory } from '../../src/storage/sqlite/open-sqlite.ts'

it('can be checked without an attempt, before an expensive operation', async () => {
  const time = { now: 0 }
  const { failures: storage } = await openMemory()
  const limit = createFailedAttemptLimit(storage, { now: () => time.now }, { attempts: 2, windowSeconds: 60 })
  const check = (address = '192.0.2.1', clientId = 'ada') => limit.check(address, clientId)
  await check()
  await limit.failed('192.0.2.1', 'ada')
  time.now = 1_000
  await check()
  await limit.failed('192.0.2.1', 'ada')
  await expect(check()).rejects.toMatchObject({
    reason: 'too_many_failures',
    details: { retryAfterSeconds: 59 },
  })
  await check('192.0.2.2')
  await check('192.0.2.1', 'grace')
  time.now = 60_000
  await check()
})
