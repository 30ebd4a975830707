import { describe, expect, test } from 'vitest'
import type { Introspection } from '../../src/authorization/introspect-token.ts'
import { createIntrospectionCache } from '../../src/authorization/introspection-cache.ts'

function createCache(introspection: Partial<Introspection> = {}, maxEntries = 10) {
  const clock = { now: 1_000_000 }
  const asked: string[] = []
  const lookUp = createIntrospectionCache(
    async (token) => {
      asked.push(token)
      if (token === 'broken') throw new Error('no answer')
      return { active: true, scope: [], apiProducts: [], ...introspection }
    },
    { lifetimeMs: 3_000, maxEntries, now: () => clock.now },
  )
  return { clock, asked, lookUp }
}

describe('the introspection cache', () => {
  test('uses an answer again for its lifetime and no longer', async () => {
    const { clock, asked, lookUp } = createCache()
    await lookUp('a')
    clock.now += 2_999
    await lookUp('a')
    expect(asked).toHaveLength(1)
    clock.now += 1
    await lookUp('a')
    expect(asked).toHaveLength(2)
  })

  test('never uses an answer past the end of the token', async () => {
    const { clock, asked, lookUp } = createCache({ expiresAt: 1_000_500 })
    await lookUp('a')
    clock.now = 1_000_499
    await lookUp('a')
    expect(asked).toHaveLength(1)
    clock.now = 1_000_500
    await lookUp('a')
    expect(asked).toHaveLength(2)
  })

  test('shares one question among concurrent callers', async () => {
    const { asked, lookUp } = createCache()
    await Promise.all(Array.from({ length: 50 }, () => lookUp('a')))
    expect(asked).toEqual(['a'])
  })

  test('tells tokens apart', async () => {
    const { asked, lookUp } = createCache()
    await Promise.all([lookUp('a'), lookUp('b')])
    expect(asked).toEqual(['a', 'b'])
  })

  test('remembers no failure, and fails all who asked together', async () => {
    const { asked, lookUp } = createCache()
    const together = await Promise.allSettled([lookUp('broken'), lookUp('broken')])
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(lookUp('broken')).rejects.toThrow('no answer')
    expect(asked).toHaveLength(2)
  })

  test('forgets the oldest answer when it is full', async () => {
    const { asked, lookUp } = createCache({}, 2)
    for (const token of ['a', 'b', 'c']) await lookUp(token)
    await lookUp('b')
    await lookUp('c')
    expect(asked).toEqual(['a', 'b', 'c'])
    await lookUp('a')
    expect(asked).toEqual(['a', 'b', 'c', 'a'])
  })
})
