import type { TokenLease, TokenResponse, TokenStore } from '@tokenwell/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { refusal, responseWith } from './store-contents.ts'
import { describeHolds } from './token-store-holds.ts'

/** What the suite needs to know of a store. */
export interface TokenStoreContractOptions {
  /** Lets at least `ms` milliseconds pass on the store's clock. @default waits that long */
  readonly passTime?: ((ms: number) => void | Promise<void>) | undefined
}

const minute = 60_000
/**
 * What every token store does, whatever it keeps its entries in. Each test has a store and a key of its own.
 * Whatever has to be alive still has a minute for it, so that no slow machine fails the suite.
 */
export function describeTokenStore(
  name: string,
  createStore: () => TokenStore | Promise<TokenStore>,
  { passTime = waitAtLeast }: TokenStoreContractOptions = {},
): void {
  describe(`${name} keeps the contract of a token store`, () => {
    let store: TokenStore
    let key: string
    beforeEach(async () => {
      store = await createStore()
      key = `contract ${crypto.randomUUID()}`
    })
    afterEach(() => store.close?.())

    const leased = async (ttlMs = minute, of = key): Promise<TokenLease> => {
      const lease = await store.lease(of, ttlMs)
      if (lease === undefined) throw new Error('The lease was expected to be free')
      return lease
    }
    const write = async (value: string, lifetimeMs = minute, of = key): Promise<string> => {
      const lease = await leased(minute, of)
      const id = await lease.write(responseWith(value), lifetimeMs)
      await lease.release()
      return id!
    }
    const readToken = async (of = key) => {
      const entry = await store.read(of)
      return entry && 'id' in entry ? entry : undefined
    }

    describe('tokens', () => {
      it('holds nothing under a key nobody wrote', async () => {
        expect(await store.read(key)).toBeUndefined()
      })

      it('gives back the whole response that was written', async () => {
        await write('first')
        expect((await readToken())?.response).toStrictEqual(responseWith('first'))
      })

      it('gives back a response of nothing but a token', async () => {
        const response: TokenResponse = { accessToken: 'bare', tokenType: 'Bearer', scope: [] }
        await (await leased()).write(response, minute)
        expect((await readToken())?.response).toStrictEqual(response)
      })

      it('names each entry by an id that write returns, new for each write, and that shows no token', async () => {
        const first = await write('same-token')
        expect((await readToken())?.id).toBe(first)
        const second = await write('same-token')
        expect(second).not.toBe(first)
        expect((await readToken())?.id).toBe(second)
        expect(first + second).not.toContain('same-token')
      })

      it('counts a life down from the moment the lease was taken', async () => {
        const lease = await leased()
        await passTime(50)
        await lease.write(responseWith('aged'), minute)
        const { remainingMs = Number.NaN } = (await readToken()) ?? {}
        expect(remainingMs).toBeLessThanOrEqual(minute - 50)
        expect(remainingMs).toBeGreaterThan(0)
        await passTime(50)
        expect((await readToken())?.remainingMs).toBeLessThanOrEqual(remainingMs - 50)
      })

      it('forgets a token at the end of its life', async () => {
        await write('short-lived', 30)
        await passTime(40)
        expect(await store.read(key)).toBeUndefined()
      })

      it('does not show a token that came when its life was over already', async () => {
        const lease = await leased()
        await passTime(40)
        await lease.write(responseWith('dead on arrival'), 30)
        expect(await store.read(key)).toBeUndefined()
      })

      it('replaces a token by the next', async () => {
        await write('first')
        await write('second')
        expect((await readToken())?.response.accessToken).toBe('second')
      })

      it('removes an entry by its id', async () => {
        const id = await write('refused')
        await store.remove(key, id)
        expect(await store.read(key)).toBeUndefined()
      })

      it('leaves a newer entry alone when an older one is removed', async () => {
        const old = await write('old')
        await write('new')
        await store.remove(key, old)
        expect((await readToken())?.response.accessToken).toBe('new')
      })

      it('removes nothing where nothing is, or under another key', async () => {
        await store.remove(key, 'no such id')
        const id = await write('kept')
        await store.remove(`${key}, another`, id)
        expect(await readToken()).toBeDefined()
      })

      it.each(['', ' ', '*', '{a}:b', '__proto__', 'é\n🔑', 'k'.repeat(2_000)])(
        'keeps the key %j apart from others',
        async (suffix) => {
          const [one, two] = [`${key}/1${suffix}`, `${key}/2${suffix}`]
          await write('one', minute, one)
          const other = await leased(minute, two)
          expect(await store.read(two)).toBeUndefined()
          await other.writeCooldown(refusal, minute)
          expect(await store.read(one)).not.toHaveProperty('error')
          expect((await readToken(one))?.response.accessToken).toBe('one')
        },
      )
    })

    describe('leases', () => {
      it('gives one of many the lease, however many ask at once', async () => {
        const leases = await Promise.all(Array.from({ length: 50 }, () => store.lease(key, minute)))
        expect(leases.filter(Boolean)).toHaveLength(1)
      })

      it('gives the lease to the next when it is released', async () => {
        const lease = await leased()
        expect(await store.lease(key, minute)).toBeUndefined()
        await lease.release()
        expect(await store.lease(key, minute)).toBeDefined()
      })

      it('shows the old token while a new one is asked for, and after the lease ended', async () => {
        await write('old')
        const lease = await leased()
        expect((await readToken())?.response.accessToken).toBe('old')
        await lease.release()
        expect((await readToken())?.response.accessToken).toBe('old')
      })

      it('gives the lease to the next when its holder has gone silent', async () => {
        await leased(30)
        await passTime(40)
        expect(await store.lease(key, minute)).toBeDefined()
      })

      it('keeps a lease longer for a holder that extends it', async () => {
        const lease = await leased(3_000)
        expect(await lease.extend(minute)).toBe(true)
        await passTime(3_010)
        expect(await store.lease(key, minute)).toBeUndefined()
        expect((await lease.write(responseWith('in time'), minute)) !== undefined).toBe(true)
      })

      it('counts an extension from now', async () => {
        const lease = await leased()
        await lease.extend(30)
        await passTime(40)
        expect(await store.lease(key, minute)).toBeDefined()
      })

      it('counts a life from the lease, not from its extension', async () => {
        const lease = await leased()
        await passTime(50)
        await lease.extend(minute)
        await lease.write(responseWith('aged'), minute)
        expect((await readToken())?.remainingMs).toBeLessThanOrEqual(minute - 50)
      })

      it('takes nothing from a holder that lost its lease', async () => {
        const loser = await leased(30)
        await passTime(40)
        const winner = await leased()
        await winner.write(responseWith("the winner's"), minute)
        expect(await loser.write(responseWith('too late'), minute)).toBeUndefined()
        await loser.writeCooldown(refusal, minute)
        expect(await loser.extend(minute)).toBe(false)
        await loser.release()
        expect(await store.read(key)).not.toHaveProperty('error')
        expect((await readToken())?.response.accessToken).toBe("the winner's")
        expect(await store.lease(key, minute)).toBeUndefined()
      })

      it('takes nothing through a lease that ran out, though nobody took the next', async () => {
        const lease = await leased(30)
        await passTime(40)
        expect(await lease.extend(minute)).toBe(false)
        expect(await lease.write(responseWith('too late'), minute)).toBeUndefined()
        await lease.writeCooldown(refusal, minute)
        expect(await store.read(key)).toBeUndefined()
      })

      it('takes nothing through a lease that was released, and lets it be released twice', async () => {
        const lease = await leased()
        await lease.release()
        await leased()
        await lease.release()
        expect(await lease.extend(minute)).toBe(false)
        expect(await lease.write(responseWith('too late'), minute)).toBeUndefined()
        expect(await store.read(key)).toBeUndefined()
        expect(await store.lease(key, minute)).toBeUndefined()
      })
    })

    describeHolds({
      read: () => store.read(key),
      remove: (id) => store.remove(key, id),
      leased,
      write,
      passTime,
    })
  })
}

/** A timer may be a moment early, and a store may count in whole milliseconds. */
async function waitAtLeast(ms: number): Promise<void> {
  const end = performance.now() + ms + 1
  for (let left = ms + 1; left > 0; left = end - performance.now())
    await new Promise((resolve) => setTimeout(resolve, left))
}
