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
      await (await leased()).hold(refusal, minute)
      const entry = await read()
      expect(entry).toStrictEqual({ error: refusal, heldForMs: expect.any(Number) })
      const { heldForMs } = entry as { heldForMs: number }
      expect(heldForMs).toBeGreaterThan(0)
      expect(heldForMs).toBeLessThanOrEqual(minute)
    })

    it('ends a hold when its time is over', async () => {
      await (await leased()).hold(refusal, 30)
      await passTime(40)
      expect(await read()).toBeUndefined()
    })

    it('counts a hold from now, not from the lease', async () => {
      const lease = await leased()
      await passTime(50)
      await lease.hold(refusal, minute)
      await passTime(1)
      const { heldForMs } = (await read()) as { heldForMs: number }
      expect(heldForMs).toBeGreaterThan(0)
      expect(heldForMs).toBeLessThan(minute)
    })

    it('ends a hold by the first token that is written', async () => {
      const lease = await leased()
      await lease.hold(refusal, minute)
      await lease.release()
      await write('accepted again')
      expect(await read()).not.toHaveProperty('error')
      expect(await read()).toHaveProperty('id')
    })

    it('shows a token that still lives beside the refusal of its renewal', async () => {
      const id = await write('old')
      await (await leased()).hold(refusal, minute)
      expect(await read()).toMatchObject({ id, error: refusal })
      await remove(id)
      const entry = await read()
      expect(entry).toHaveProperty('error')
      expect(entry).not.toHaveProperty('id')
    })
  })
}
