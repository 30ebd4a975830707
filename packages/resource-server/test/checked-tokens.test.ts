import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createVerifierUnderTest } from './verifier-under-test.ts'

const down = () => {
  throw new TypeError('fetch failed')
}

describe('cached results', () => {
  it('are used for cacheMs, and no longer', async () => {
    const { statusOf, clock, introspected } = createVerifierUnderTest({ cacheMs: 3_000 })
    await statusOf('good')
    clock.advance(2_999)
    expect(await statusOf('good')).toBe(200)
    expect(introspected).toHaveLength(1)
    clock.advance(1)
    expect(await statusOf('good')).toBe(200)
    expect(introspected).toHaveLength(2)
  })

  it('are used for 10 s by default, rejections too', async () => {
    const { statusOf, clock, introspected } = createVerifierUnderTest()
    expect([await statusOf('good'), await statusOf('bad')]).toEqual([200, 401])
    clock.advance(9_999)
    expect([await statusOf('good'), await statusOf('bad')]).toEqual([200, 401])
    expect(introspected).toEqual(['good', 'bad'])
    clock.advance(1)
    expect([await statusOf('good'), await statusOf('bad')]).toEqual([200, 401])
    expect(introspected).toHaveLength(4)
  })

  it('are not extended by a wall clock that is set back', async () => {
    const { statusOf, clock, introspected } = createVerifierUnderTest()
    await statusOf('good')
    clock.setWall(-3_600_000)
    clock.advance(10_000)
    await statusOf('good')
    expect(introspected).toHaveLength(2)
  })

  it('are never used past the expiry of the token', async () => {
    const underTest = createVerifierUnderTest()
    const exp = underTest.clock.now() / 1000 + 5
    underTest.respond = () => ({ active: true, exp })
    expect(await underTest.statusOf('good')).toBe(200)
    underTest.clock.advance(4_999)
    expect(await underTest.statusOf('good')).toBe(200)
    underTest.clock.advance(1)
    expect(await underTest.statusOf('good')).toBe(401)
  })

  it('of a revoked token end after cacheMs at the latest', async () => {
    const underTest = createVerifierUnderTest({ cacheMs: 2_000 })
    await underTest.statusOf('good')
    underTest.respond = () => ({ active: false })
    underTest.clock.advance(1_999)
    expect(await underTest.statusOf('good')).toBe(200)
    underTest.clock.advance(1)
    expect(await underTest.statusOf('good')).toBe(401)
  })

  it('do not replace those of other tokens', async () => {
    const underTest = createVerifierUnderTest()
    underTest.respond = (token) => ({ active: true, client_id: token })
    const clients = await Promise.all(
      ['a', 'b', 'a'].map(async (token) => (await underTest.verifier.verify(`Bearer ${token}`)).clientId),
    )
    expect(clients).toEqual(['a', 'b', 'a'])
    expect(underTest.introspected).toEqual(['a', 'b'])
  })

  it('do not exist for failures, which are tried again at once', async () => {
    const underTest = createVerifierUnderTest()
    const { respond } = underTest
    underTest.respond = down
    expect(await underTest.statusOf('good')).toBe(503)
    underTest.respond = respond
    expect(await underTest.statusOf('good')).toBe(200)
  })
})

describe('while the endpoint fails', () => {
  it('a cached token is rejected after cacheMs', async () => {
    const underTest = createVerifierUnderTest()
    await underTest.statusOf('good')
    underTest.respond = down
    underTest.clock.advance(10_000)
    expect(await underTest.statusOf('good')).toBe(503)
  })

  it('a valid token is accepted for staleIfErrorMs more, but no other one', async () => {
    const underTest = createVerifierUnderTest({ staleIfErrorMs: 60_000 })
    const exp = underTest.clock.now() / 1000 + 65
    underTest.respond = (token) => ({ active: token.startsWith('good'), ...(token === 'good-65' && { exp }) })
    for (const token of ['good', 'good-65', 'bad']) await underTest.statusOf(token)
    underTest.respond = down
    underTest.clock.advance(64_000)
    expect(await Promise.all(['good', 'good-65', 'bad', 'good-new'].map(underTest.statusOf))).toEqual([
      200, 200, 503, 503,
    ])
    underTest.clock.advance(2_000)
    expect(await underTest.statusOf('good-65')).toBe(401)
    underTest.clock.advance(4_000)
    expect(await underTest.statusOf('good')).toBe(503)
  })
})

describe('many requests', () => {
  it('with one token share one introspection, failures included', async () => {
    const underTest = createVerifierUnderTest()
    const statuses = await Promise.all(Array.from({ length: 200 }, () => underTest.statusOf('good')))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(underTest.introspected).toEqual(['good'])
    underTest.respond = down
    const failures = await Promise.all(Array.from({ length: 200 }, () => underTest.statusOf('good-2')))
    expect(new Set(failures)).toEqual(new Set([503]))
    expect(underTest.introspected).toEqual(['good', 'good-2'])
  })

  it('with 100 tokens need at most 100 introspections in each cacheMs', async () => {
    const { statusOf, clock, introspected } = createVerifierUnderTest()
    const tokens = Array.from({ length: 100 }, (_, index) => `good-${index}`)
    // 10,000 requests for each of 30 seconds.
    for (let second = 0; second < 30; second++) {
      for (let round = 0; round < 10; round++) {
        const statuses = await Promise.all(
          Array.from({ length: 1_000 }, (_, at) => statusOf(tokens[at % 100]!)),
        )
        expect(statuses.every((status) => status === 200)).toBe(true)
      }
      clock.advance(1_000)
    }
    expect(introspected).toHaveLength(300)
  })

  it('use a limited number of connections', async () => {
    const underTest = createVerifierUnderTest({ maxConnections: 3 })
    let open = 0
    let most = 0
    underTest.respond = async () => {
      most = Math.max(most, ++open)
      await new Promise(setImmediate)
      open--
      return { active: true }
    }
    await Promise.all(Array.from({ length: 50 }, (_, index) => underTest.statusOf(`good-${index}`)))
    expect(most).toBe(3)
  })

  it('with unknown tokens do not delay a known one, and are limited', async () => {
    const underTest = createVerifierUnderTest({ maxConnections: 1, maxWaiting: 20 })
    await underTest.statusOf('good')
    underTest.clock.advance(10_000)
    const flood = Array.from({ length: 100 }, (_, index) => underTest.statusOf(`random-${index}`))
    expect(await underTest.statusOf('good')).toBe(200)
    expect(underTest.introspected.indexOf('good', 1)).toBeLessThan(3)
    const statuses = await Promise.all(flood)
    expect(statuses.filter((status) => status === 401)).toHaveLength(21)
    expect(statuses.filter((status) => status === 503)).toHaveLength(79)
  })

  it('with random tokens do not evict valid ones', async () => {
    const underTest = createVerifierUnderTest({ maxWaiting: 10_000 }, { maxCachedTokens: 100 })
    const valid = Array.from({ length: 100 }, (_, index) => `good-${index}`)
    await Promise.all(valid.map(underTest.statusOf))
    const random = Array.from({ length: 2_000 }, () => randomBytes(32).toString('base64url'))
    expect(new Set(await Promise.all(random.map(underTest.statusOf)))).toEqual(new Set([401]))
    underTest.respond = down
    expect(new Set(await Promise.all(valid.map(underTest.statusOf)))).toEqual(new Set([200]))
  })
})
