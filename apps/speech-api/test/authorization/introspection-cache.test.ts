import { describe, expect, test } from 'vitest'
import type { Introspection } from '../../src/authorization/introspect-token.ts'
import { createIntrospectionCache } from '../../src/authorization/introspection-cache.ts'

function createCache(introspection: Partial<Introspection> = {}, maxEntries = 10) {
  const clock = { now: 1_000_000 }
  const requested: string[] = []
  const lookUp = createIntrospectionCache(
    async (token) => {
      requested.push(token)
      if (token === 'failing') throw new Error('no response')
      return { active: true, scope: [], apiProducts: [], ...introspection }
    },
    { lifetimeMs: 3_000, maxEntries, now: () => clock.now },
  )
  return { clock, requested, lookUp }
}

describe('the introspection cache', () => {
  test('caches a response for its lifetime', async () => {
    const { clock, requested, lookUp } = createCache()
    await lookUp('a')
    clock.now += 2_999
    await lookUp('a')
    expect(requested).toHaveLength(1)
    clock.now += 1
    await lookUp('a')
    expect(requested).toHaveLength(2)
  })

  test('never returns a response after the token has expired', async () => {
    const { clock, requested, lookUp } = createCache({ expiresAt: 1_000_500 })
    await lookUp('a')
    clock.now = 1_000_499
    await lookUp('a')
    expect(requested).toHaveLength(1)
    clock.now = 1_000_500
    await lookUp('a')
    expect(requested).toHaveLength(2)
  })

  test('shares one request between concurrent callers', async () => {
    const { requested, lookUp } = createCache()
    await Promise.all(Array.from({ length: 50 }, () => lookUp('a')))
    expect(requested).toEqual(['a'])
  })

  test('distinguishes tokens', async () => {
    const { requested, lookUp } = createCache()
    await Promise.all([lookUp('a'), lookUp('b')])
    expect(requested).toEqual(['a', 'b'])
  })

  test('rejects all concurrent callers on a failure, and does not cache it', async () => {
    const { requested, lookUp } = createCache()
    const concurrent = await Promise.allSettled([lookUp('failing'), lookUp('failing')])
    expect(concurrent.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(lookUp('failing')).rejects.toThrow('no response')
    expect(requested).toHaveLength(2)
  })

  test('drops the oldest response when it is full', async () => {
    const { requested, lookUp } = createCache({}, 2)
    for (const token of ['a', 'b', 'c']) await lookUp(token)
    await lookUp('b')
    await lookUp('c')
    expect(requested).toEqual(['a', 'b', 'c'])
    await lookUp('a')
    expect(requested).toEqual(['a', 'b', 'c', 'a'])
  })
})
