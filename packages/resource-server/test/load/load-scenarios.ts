import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { startLoad, type Load } from './load.ts'

const tokens = Array.from({ length: 100 }, (_, index) => `valid-${index}`)
const valid = (index: number): string => tokens[index % tokens.length]!

/** Requests with 100 tokens: each is introspected once per `cacheMs`, and rejected `cacheMs` after its revocation. */
export async function requestsWithValidTokens(seconds: number, cacheMs: number): Promise<object> {
  await using load = await startLoad({ cacheMs })
  for (const token of tokens) load.active.add(token)
  const statuses = new Map<number, number>()
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1_000
  await load.onTracks(async (index) => {
    const status = await load.send(valid(index))
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    return performance.now() < endsAt
  })
  const elapsedMs = performance.now() - startedAt
  const requests = statuses.get(200) ?? 0
  expect([...statuses.keys()]).toEqual([200])
  expect(load.introspections).toBeLessThanOrEqual(100 * (Math.floor(elapsedMs / cacheMs) + 1))
  return {
    requestsPerSecond: Math.round((requests * 1_000) / elapsedMs),
    introspectionsPerCacheTime: Math.round((load.introspections * cacheMs) / elapsedMs),
    acceptedAfterRevocationMs: Math.round(await acceptedAfterRevocation(load, cacheMs)),
  }
}

/** How long after its revocation a token was still accepted, if it is revoked right after it was introspected. */
async function acceptedAfterRevocation(load: Load, cacheMs: number): Promise<number> {
  const revoked = tokens[0]!
  let revokedAt = Infinity
  load.afterIntrospection = (token) => {
    if (token === revoked && load.active.delete(token)) revokedAt = performance.now()
  }
  let acceptedMs = 0
  let rejected = false
  await load.onTracks(async (index) => {
    const sentAt = performance.now()
    const token = valid(index)
    const status = await load.send(token)
    if (token !== revoked) expect(status).toBe(200)
    else if (status === 200) acceptedMs = Math.max(acceptedMs, sentAt - revokedAt)
    else rejected = true
    return performance.now() < revokedAt + 1.5 * cacheMs
  })
  expect(rejected).toBe(true)
  expect(acceptedMs).toBeLessThanOrEqual(cacheMs)
  return acceptedMs
}

/** Random tokens, each once, among requests with 100 valid ones. */
export async function requestsWithRandomTokens(
  random: number,
  maxCachedTokens: number,
): Promise<Record<'randomTokens' | 'heapGrowth' | 'seconds', number>> {
  await using load = await startLoad({ cacheMs: 1_000 }, maxCachedTokens)
  for (const token of tokens) load.active.add(token)
  const flood = (count: number): Promise<void> =>
    load.onTracks(async (index) => {
      const isRandom = index % 2 === 0
      const token = isRandom ? randomBytes(32).toString('base64url') : valid((index - 1) / 2)
      expect(await load.send(token)).toBe(isRandom ? 401 : 200)
      return index < 2 * count
    })
  const startedAt = performance.now()
  // As many as are kept, and the code is compiled.
  await flood(Math.max(2 * maxCachedTokens, random / 5))
  const before = await load.heap()
  await flood(random)
  const heapGrowth = (await load.heap()) - before
  return { randomTokens: random, heapGrowth, seconds: Math.round((performance.now() - startedAt) / 1_000) }
}
