import { describe, expect, it } from 'vitest'
import { type StoreUnderTest, rejection, responseWith } from './store-under-test.ts'

const minute = 60_000
/** How every token store decides who requests a token, and whose results it accepts. */
export function describeLeases({
  read,
  readToken,
  tryLease,
  acquireLease,
  write,
  passTime,
}: StoreUnderTest): void {
  describe('leases', () => {
    it('grants the lease to one of 50 concurrent callers', async () => {
      const leases = await Promise.all(Array.from({ length: 50 }, () => tryLease(minute)))
      expect(leases.filter(Boolean)).toHaveLength(1)
    })

    it('grants the lease again after it is released', async () => {
      const lease = await acquireLease()
      expect(await tryLease(minute)).toBeUndefined()
      await lease.release()
      expect(await tryLease(minute)).toBeDefined()
    })

    it('returns the old token while the lease is held and after it is released', async () => {
      await write('old')
      const lease = await acquireLease()
      expect((await readToken())?.response.accessToken).toBe('old')
      await lease.release()
      expect((await readToken())?.response.accessToken).toBe('old')
    })

    it('grants the lease again after it expires', async () => {
      await acquireLease(30)
      await passTime(40)
      expect(await tryLease(minute)).toBeDefined()
    })

    it('keeps a lease that its holder extends', async () => {
      let ttlMs = 100
      let lease = await acquireLease(ttlMs)
      // A machine that is slow loses it, and tries again with more time.
      while (!(await lease.extend(minute))) {
        ttlMs *= 2
        expect(ttlMs).toBeLessThan(10_000)
        lease = await acquireLease(ttlMs)
      }
      await passTime(ttlMs + 10)
      expect(await tryLease(minute)).toBeUndefined()
      expect((await lease.write(responseWith('in time'), minute)) !== undefined).toBe(true)
    })

    it('counts an extension from the moment of the call', async () => {
      const lease = await acquireLease()
      await lease.extend(30)
      await passTime(40)
      expect(await tryLease(minute)).toBeDefined()
    })

    it('counts the lifetime from the lease, not from its extension', async () => {
      const lease = await acquireLease()
      await passTime(50)
      await lease.extend(minute)
      await lease.write(responseWith('aged'), minute)
      expect((await readToken())?.remainingMs).toBeLessThanOrEqual(minute - 50)
    })

    it('ignores a holder that lost its lease to another one', async () => {
      const loser = await acquireLease(30)
      await passTime(40)
      const winner = await acquireLease()
      await winner.write(responseWith("the winner's"), minute)
      expect(await loser.write(responseWith('too late'), minute)).toBeUndefined()
      await loser.writeCooldown(rejection, minute)
      expect(await loser.extend(minute)).toBe(false)
      await loser.release()
      expect(await read()).not.toHaveProperty('error')
      expect((await readToken())?.response.accessToken).toBe("the winner's")
      expect(await tryLease(minute)).toBeUndefined()
    })

    it('grants one lease of the slot "fallback" besides the first one', async () => {
      const lease = await acquireLease()
      const fallbacks = await Promise.all(Array.from({ length: 10 }, () => tryLease(minute, 'fallback')))
      const [fallback, ...others] = fallbacks.filter((one) => one !== undefined)
      expect(others).toEqual([])
      await fallback!.write(responseWith('by the fallback'), minute)
      expect((await readToken())?.response.accessToken).toBe('by the fallback')
      await fallback!.release()
      expect(await lease.extend(minute)).toBe(true)
      expect(await tryLease(minute)).toBeUndefined()
      expect(await tryLease(minute, 'fallback')).toBeDefined()
      await lease.write(responseWith('by the holder'), minute)
      expect((await readToken())?.response.accessToken).toBe('by the holder')
    })

    it('ignores the holder of an expired lease, even if the lease is free', async () => {
      const lease = await acquireLease(30)
      await passTime(40)
      expect(await lease.extend(minute)).toBe(false)
      expect(await lease.write(responseWith('too late'), minute)).toBeUndefined()
      await lease.writeCooldown(rejection, minute)
      expect(await read()).toBeUndefined()
    })

    it('ignores the holder of a released lease and accepts a second release', async () => {
      const lease = await acquireLease()
      await lease.release()
      await acquireLease()
      await lease.release()
      expect(await lease.extend(minute)).toBe(false)
      expect(await lease.write(responseWith('too late'), minute)).toBeUndefined()
      expect(await read()).toBeUndefined()
      expect(await tryLease(minute)).toBeUndefined()
    })
  })
}

/** What every token store does with a rejection of the credentials. */
export function describeCooldowns({ read, remove, acquireLease, write, passTime }: StoreUnderTest): void {
  describe('cooldowns', () => {
    it('returns a cooldown to every reader with its remaining time', async () => {
      await (await acquireLease()).writeCooldown(rejection, minute)
      const entry = await read()
      expect(entry).toStrictEqual({ error: rejection, cooldownMs: expect.any(Number) })
      const { cooldownMs } = entry as { cooldownMs: number }
      expect(cooldownMs).toBeGreaterThan(0)
      expect(cooldownMs).toBeLessThanOrEqual(minute)
    })

    it('forgets a cooldown when it is over', async () => {
      await (await acquireLease()).writeCooldown(rejection, 30)
      await passTime(40)
      expect(await read()).toBeUndefined()
    })

    it('counts a cooldown from when it is written, not from the lease', async () => {
      const lease = await acquireLease()
      await passTime(50)
      await lease.writeCooldown(rejection, minute)
      await passTime(1)
      const { cooldownMs } = (await read()) as { cooldownMs: number }
      expect(cooldownMs).toBeGreaterThan(0)
      expect(cooldownMs).toBeLessThan(minute)
    })

    it('ends a cooldown when a token is written', async () => {
      const lease = await acquireLease()
      await lease.writeCooldown(rejection, minute)
      await lease.release()
      await write('accepted again')
      expect(await read()).not.toHaveProperty('error')
      expect(await read()).toHaveProperty('id')
    })

    it('returns a token that is still valid together with the cooldown of its refresh', async () => {
      const id = await write('old')
      await (await acquireLease()).writeCooldown(rejection, minute)
      expect(await read()).toMatchObject({ id, error: rejection })
      await remove(id)
      const entry = await read()
      expect(entry).toHaveProperty('error')
      expect(entry).not.toHaveProperty('id')
    })
  })
}
