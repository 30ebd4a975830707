import { createMemoryTokenStore, type TokenStore } from '@tokenwell/core'
import { tokenStoreTests } from '@tokenwell/core/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
afterAll(() => void vi.useRealTimers())

const options = { passTime: (ms: number) => void vi.advanceTimersByTime(ms) }

/** The titles of the tests that a store fails. */
async function failuresOf(createStore: () => TokenStore): Promise<string[]> {
  const failed: string[] = []
  for (const { title, run } of tokenStoreTests(createStore, options))
    await run().catch(() => failed.push(title))
  return failed
}

it('passes a store that obeys the rules', async () => {
  expect(await failuresOf(createMemoryTokenStore)).toStrictEqual([])
})

const brokenStores: Record<string, (store: TokenStore) => Partial<TokenStore>> = {
  'forgets what was written': () => ({ read: async () => undefined }),
  'removes an entry by any ID': (store) => ({
    remove: async (key) => {
      const entry = await store.read(key)
      if (entry && 'id' in entry) await store.remove(key, entry.id)
    },
  }),
  'removes nothing': () => ({ remove: async () => {} }),
  'grants every lease': () => {
    const stores = createMemoryTokenStore
    return { lease: (key, ttlMs) => stores().lease(key, ttlMs) }
  },
  'grants no fallback lease': (store) => ({
    lease: async (key, ttlMs, slot) => (slot === 'fallback' ? undefined : store.lease(key, ttlMs)),
  }),
  'keeps one entry for all keys': (store) => ({
    read: () => store.read('one'),
    lease: (_key, ttlMs, slot) => store.lease('one', ttlMs, slot),
    remove: (_key, id) => store.remove('one', id),
  }),
}

it.each(Object.entries(brokenStores))('fails a store that %s', async (_fault, breakStore) => {
  const failed = await failuresOf(() => {
    const store = createMemoryTokenStore()
    return { ...store, ...breakStore(store) }
  })
  expect(failed).not.toStrictEqual([])
})

it('names what the store returned instead', async () => {
  const store = { ...createMemoryTokenStore(), read: async () => undefined }
  const test = tokenStoreTests(() => store, options).find(({ title }) =>
    title.startsWith('replaces a token'),
  )!
  await expect(test.run()).rejects.toThrow(
    'The token store does not obey this rule: it returned undefined instead of "second".',
  )
})

it('closes the store of a test that fails', async () => {
  const close = vi.fn<() => Promise<void>>(async () => {})
  const store = { ...createMemoryTokenStore(), read: async () => undefined, close }
  const tests = tokenStoreTests(() => store, options)
  await expect(tests[1]!.run()).rejects.toThrow('does not obey')
  expect(close).toHaveBeenCalledTimes(1)
})
