import type { TokenLease, TokenStore } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'
import { refusal } from './store-contents.ts'

/** One store and one key, as the suite has them before each test. */
export interface StoreUnderTest {
  readonly read: () => ReturnType<TokenStore['read']>
  readonly remove: (id: string) => Promise<void>
  readonly leased: () => Promise<TokenLease>
  readonly write: (token: string) => Promise<string>
  readonly passTime: (ms: number) => void | Promise<void>
}

const minute = 60_000
/** What every token store does with a refusal of the credentials. */
export function describeHolds({ read, remove, leased, write, passTime }: StoreUnderTest): void {
  describe('holds', () => {
    it('shows a refusal to everybody, with the time left of it', async () => {
      await (await leased()).writeCooldown(refusal, minute)
      const entry = await read()
      expect(entry).toStrictEqual({ error: refusal, cooldownMs: expect.any(Number) })
      const { cooldownMs } = entry as { cooldownMs: number }
      expect(cooldownMs).toBeGreaterThan(0)
      expect(cooldownMs).toBeLessThanOrEqual(minute)
    })

    it('ends a hold when its time is over', async () => {
      await (await leased()).writeCooldown(refusal, 30)
      await passTime(40)
      expect(await read()).toBeUndefined()
    })

    it('counts a hold from now, not from the lease', async () => {
      const lease = await leased()
      await passTime(50)
      await lease.writeCooldown(refusal, minute)
      await passTime(1)
      const { cooldownMs } = (await read()) as { cooldownMs: number }
      expect(cooldownMs).toBeGreaterThan(0)
      expect(cooldownMs).toBeLessThan(minute)
    })

    it('ends a hold by the first token that is written', async () => {
      const lease = await leased()
      await lease.writeCooldown(refusal, minute)
      await lease.release()
      await write('accepted again')
      expect(await read()).not.toHaveProperty('error')
      expect(await read()).toHaveProperty('id')
    })

    it('shows a token that still lives beside the refusal of its renewal', async () => {
      const id = await write('old')
      await (await leased()).writeCooldown(refusal, minute)
      expect(await read()).toMatchObject({ id, error: refusal })
      await remove(id)
      const entry = await read()
      expect(entry).toHaveProperty('error')
      expect(entry).not.toHaveProperty('id')
    })
  })
}
