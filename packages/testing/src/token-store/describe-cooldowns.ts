import { describe, expect, it } from 'vitest'
import type { StoreUnderTest } from './store-under-test.ts'
import { rejection } from './stored-values.ts'

const minute = 60_000
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
