import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TokenResponse, TokenStore } from '@tokenwell/core'
import type { TokenLease } from '@tokenwell/core/adapter'
import { describeCooldowns, describeLeases } from './describe-leases.ts'
import { type StoreUnderTest, rejection, responseWith } from './store-under-test.ts'

/** Options of the suite. */
export interface TokenStoreContractOptions {
  /** Advances the store's clock by at least `ms` milliseconds. @default waits that long */
  readonly passTime?: ((ms: number) => void | Promise<void>) | undefined
}

const minute = 60_000
/**
 * Defines the tests that every token store passes. Each test creates its own store and uses its own key. What a test
 * expects to still be valid lasts a minute, so that a slow machine does not fail the suite.
 *
 * @example
 * describeTokenStore('my store', () => createMyTokenStore({ url }))
 */
export function describeTokenStore(
  name: string,
  createStore: () => TokenStore | Promise<TokenStore>,
  { passTime = waitAtLeast }: TokenStoreContractOptions = {},
): void {
  describe(`${name}: contract of a token store`, () => {
    let store: TokenStore
    let key: string
    beforeEach(async () => {
      store = await createStore()
      key = `contract ${crypto.randomUUID()}`
    })
    afterEach(() => store.close?.())

    const acquireLease = async (ttlMs = minute, of = key): Promise<TokenLease> => {
      const lease = await store.lease(of, ttlMs)
      if (lease === undefined) throw new Error('The lease is not available')
      return lease
    }
    const write = async (value: string, lifetimeMs = minute, of = key): Promise<string> => {
      const lease = await acquireLease(minute, of)
      const id = await lease.write(responseWith(value), lifetimeMs)
      await lease.release()
      return id!
    }
    const readToken = async (of = key) => {
      const entry = await store.read(of)
      return entry && 'id' in entry ? entry : undefined
    }

    describe('tokens', () => {
      it('returns undefined for a key that was not written', async () => {
        expect(await store.read(key)).toBeUndefined()
      })

      it('returns the complete response that was written', async () => {
        await write('first')
        expect((await readToken())?.response).toStrictEqual(responseWith('first'))
      })

      it('returns a response that holds only a token', async () => {
        const response: TokenResponse = { accessToken: 'bare', tokenType: 'Bearer', scope: [] }
        await (await acquireLease()).write(response, minute)
        expect((await readToken())?.response).toStrictEqual(response)
      })

      it('assigns each write a new ID that does not contain the token', async () => {
        const first = await write('same-token')
        expect((await readToken())?.id).toBe(first)
        const second = await write('same-token')
        expect(second).not.toBe(first)
        expect((await readToken())?.id).toBe(second)
        expect(first + second).not.toContain('same-token')
      })

      it('counts the lifetime from the moment the lease was acquired', async () => {
        const lease = await acquireLease()
        await passTime(50)
        await lease.write(responseWith('aged'), minute)
        const { remainingMs = Number.NaN } = (await readToken()) ?? {}
        expect(remainingMs).toBeLessThanOrEqual(minute - 50)
        expect(remainingMs).toBeGreaterThan(0)
        await passTime(50)
        expect((await readToken())?.remainingMs).toBeLessThanOrEqual(remainingMs - 50)
      })

      it('forgets a token when it expires', async () => {
        await write('short-lived', 30)
        await passTime(40)
        expect(await store.read(key)).toBeUndefined()
      })

      it('does not return a token that had expired before it was written', async () => {
        const lease = await acquireLease()
        await passTime(40)
        await lease.write(responseWith('expired on arrival'), 30)
        expect(await store.read(key)).toBeUndefined()
      })

      it('replaces a token with the next one', async () => {
        await write('first')
        await write('second')
        expect((await readToken())?.response.accessToken).toBe('second')
      })

      it('removes an entry by its ID', async () => {
        const id = await write('rejected')
        await store.remove(key, id)
        expect(await store.read(key)).toBeUndefined()
      })

      it('does not remove a newer entry by the ID of an older one', async () => {
        const old = await write('old')
        await write('new')
        await store.remove(key, old)
        expect((await readToken())?.response.accessToken).toBe('new')
      })

      it('removes nothing for an unknown ID or under another key', async () => {
        await store.remove(key, 'no such id')
        const id = await write('kept')
        await store.remove(`${key}, another`, id)
        expect(await readToken()).toBeDefined()
      })

      it.each([
        ['empty suffixes', ''],
        ['blanks', ' '],
        ['asterisks', '*'],
        ['braces', '{a}:b'],
        ['the name of a prototype', '__proto__'],
        ['other characters', 'é\n🔑'],
        ['2,000 more characters', 'k'.repeat(2_000)],
      ])('does not confuse two keys with %s', async (_name, suffix) => {
        const [one, two] = [`${key}/1${suffix}`, `${key}/2${suffix}`]
        await write('one', minute, one)
        const other = await acquireLease(minute, two)
        expect(await store.read(two)).toBeUndefined()
        await other.writeCooldown(rejection, minute)
        expect(await store.read(one)).not.toHaveProperty('error')
        expect((await readToken(one))?.response.accessToken).toBe('one')
      })
    })

    const storeUnderTest: StoreUnderTest = {
      read: () => store.read(key),
      readToken,
      remove: (id) => store.remove(key, id),
      tryLease: (ttlMs, slot) => store.lease(key, ttlMs, slot),
      acquireLease,
      write,
      passTime,
    }
    describeLeases(storeUnderTest)
    describeCooldowns(storeUnderTest)
  })
}

/** A timer may fire a moment early, and a store may count whole milliseconds. */
async function waitAtLeast(ms: number): Promise<void> {
  const end = performance.now() + ms + 1
  for (let left = ms + 1; left > 0; left = end - performance.now())
    await new Promise((resolve) => setTimeout(resolve, left))
}
