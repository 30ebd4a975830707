import { describe, expect, it } from 'vitest'
import { createMemoryTokenStore, type TokenResponse } from '@tokenwell/core'
import type { TokenFailure } from '@tokenwell/core/protocol'
import { pass, setWallClock, useFakeTime } from '../support/fake-time.ts'

useFakeTime()

const response: TokenResponse = { accessToken: 'token', tokenType: 'Bearer', expiresIn: 100, scope: [] }
const failure: TokenFailure = { kind: 'credentials', message: 'rejected', oauthError: 'invalid_client' }

async function written(lifetimeMs = 100_000) {
  const store = createMemoryTokenStore()
  const lease = (await store.lease('key', 5_000))!
  const id = (await lease.write(response, lifetimeMs))!
  await lease.release()
  return { id, store }
}

describe('the memory store', () => {
  it('keeps a token for its lifetime, counted from the lease', async () => {
    const store = createMemoryTokenStore()
    const lease = (await store.lease('key', 50_000))!
    await pass(10_000)
    const id = await lease.write(response, 100_000)
    expect(await store.read('key')).toEqual({ id, response, remainingMs: 90_000 })
    await pass(89_999)
    expect(await store.read('key')).toMatchObject({ remainingMs: 1 })
    await pass(1)
    expect(await store.read('key')).toBeUndefined()
  })

  it('counts the lifetime by the clock that advanced further', async () => {
    const { store } = await written()
    await pass(10_000)
    setWallClock(-3_600_000)
    expect(await store.read('key')).toMatchObject({ remainingMs: 90_000 })
    setWallClock(3_600_000 + 50_000)
    expect(await store.read('key')).toMatchObject({ remainingMs: 40_000 })
  })

  it('does not extend a lifetime if the wall clock is set back between the lease and the write', async () => {
    const store = createMemoryTokenStore()
    const lease = (await store.lease('key', 50_000))!
    await pass(1_000)
    setWallClock(-200_000)
    await lease.write(response, 100_000)
    expect(await store.read('key')).toMatchObject({ remainingMs: 99_000 })
    setWallClock(98_500)
    expect(await store.read('key')).toMatchObject({ remainingMs: 500 })
    setWallClock(500)
    expect(await store.read('key')).toBeUndefined()
  })

  it('removes only the entry with the given ID', async () => {
    const { id, store } = await written()
    await store.remove('key', 'another')
    await store.remove('other', id)
    expect(await store.read('key')).toBeDefined()
    await store.remove('key', id)
    expect(await store.read('key')).toBeUndefined()
  })

  it('grants the lease to one holder at a time, and again after it expires or is released', async () => {
    const store = createMemoryTokenStore()
    const first = await store.lease('key', 5_000)
    expect(await store.lease('key', 5_000)).toBeUndefined()
    expect(await store.lease('other', 5_000)).toBeDefined()
    await pass(4_999)
    expect(await store.lease('key', 5_000)).toBeUndefined()
    await pass(1)
    const second = await store.lease('key', 5_000)
    expect(second).toBeDefined()
    await first?.release()
    expect(await store.lease('key', 5_000)).toBeUndefined()
    await second?.release()
    expect(await store.lease('key', 5_000)).toBeDefined()
  })

  it('ignores writes, cooldowns and extensions of a lost lease', async () => {
    const store = createMemoryTokenStore()
    const lost = (await store.lease('key', 5_000))!
    await pass(5_000)
    expect(await lost.extend(5_000)).toBe(false)
    await lost.write(response, 100_000)
    await lost.writeCooldown(failure, 10_000)
    expect(await store.read('key')).toBeUndefined()
    expect(await store.lease('key', 5_000)).toBeDefined()
    expect(await lost.extend(5_000)).toBe(false)
  })

  it('keeps a lease that is extended', async () => {
    const store = createMemoryTokenStore()
    const lease = (await store.lease('key', 5_000))!
    for (let second = 0; second < 20; second++) {
      await pass(4_000)
      expect(await lease.extend(5_000)).toBe(true)
    }
    expect(await store.lease('key', 5_000)).toBeUndefined()
    expect(await lease.write(response, 100_000)).toBeDefined()
    expect(await store.read('key')).toMatchObject({ remainingMs: 20_000 })
  })

  it('keeps a cooldown until it ends, together with a valid token', async () => {
    const { store } = await written()
    const lease = (await store.lease('key', 5_000))!
    await lease.writeCooldown(failure, 30_000)
    await lease.release()
    expect(await store.read('key')).toMatchObject({ response, cooldownMs: 30_000, error: failure })
    await pass(30_000)
    expect(await store.read('key')).not.toHaveProperty('cooldownMs')
  })

  it('ends a cooldown with the next token', async () => {
    const store = createMemoryTokenStore()
    const lease = (await store.lease('key', 5_000))!
    await lease.writeCooldown(failure, 30_000)
    expect(await store.read('key')).toEqual({ cooldownMs: 30_000, error: failure })
    const id = await lease.write(response, 100_000)
    expect(await store.read('key')).toEqual({ id, response, remainingMs: 100_000 })
  })

  it('identifies each entry by an ID that does not contain the token', async () => {
    const [{ id }, { id: other }] = [await written(), await written()]
    expect(id).not.toBe(other)
    expect(id).not.toContain('token')
  })

  it('keeps stores separate, and accepts any key', async () => {
    const { store } = await written()
    expect(await createMemoryTokenStore().read('key')).toBeUndefined()
    for (const key of ['__proto__', 'constructor', '', 'a:b']) expect(await store.read(key)).toBeUndefined()
  })
})
