import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { expect } from 'vitest'
import type { IntrospectionOptions } from '@tokenwell/resource-server'

/** An API that introspects tokens, and its clients, over sockets. */
export interface Load extends AsyncDisposable {
  /** Tokens that the authorization server calls active. */
  readonly active: Set<string>
  /** Number of introspections. */
  readonly introspections: number
  /** Called after the authorization server has responded to an introspection. */
  afterIntrospection: (token: string) => void
  /** Status of one request to the API. */
  send(token: string): Promise<number>
  /** Calls `work` with 0, 1, 2, … on 100 tracks, until it returns false. */
  onTracks(work: (index: number) => Promise<boolean>): Promise<void>
  /** Bytes on the heap of the API's process after a collection. */
  heap(): Promise<number>
}

async function startLoad(
  introspection: Partial<IntrospectionOptions>,
  maxCachedTokens?: number,
): Promise<Load> {
  const active = new Set<string>()
  let introspections = 0
  const introspect = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    introspections++
    const token = new URLSearchParams(await text(request)).get('token')!
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ active: active.has(token), client_id: 'client' }))
    load.afterIntrospection(token)
  }
  const authorizationServer = createServer((request, response) => void introspect(request, response))
  await once(authorizationServer.listen(0, '127.0.0.1'), 'listening')
  const { port } = authorizationServer.address() as AddressInfo
  const options = {
    maxCachedTokens,
    introspection: {
      introspectionUrl: `http://127.0.0.1:${port}`,
      clientId: 'orders-api',
      clientSecret: 'orders-secret',
      ...introspection,
    },
  }
  const api = fork(fileURLToPath(new URL('api-process.ts', import.meta.url)), [JSON.stringify(options)], {
    execArgv: ['--expose-gc', '--conditions=@tokenwell/source'],
  })
  const [origin] = (await once(api, 'message')) as [string]
  const pool = new Pool(origin, { connections: 10, pipelining: 10 })
  const load: Load = {
    active,
    afterIntrospection: () => {},
    get introspections() {
      return introspections
    },
    async send(token) {
      const headers = { authorization: `Bearer ${token}` }
      const { statusCode, body } = await pool.request({ path: '/', method: 'GET', headers })
      await body.dump()
      return statusCode
    },
    async onTracks(work) {
      let next = 0
      const track = async (): Promise<void> => {
        while (await work(next++));
      }
      await Promise.all(Array.from({ length: 100 }, track))
    },
    async heap() {
      api.send('heap')
      const [bytes] = (await once(api, 'message')) as [number]
      return bytes
    },
    async [Symbol.asyncDispose]() {
      await pool.close()
      api.disconnect()
      await once(api, 'exit')
      authorizationServer.close()
      authorizationServer.closeAllConnections()
    },
  }
  return load
}

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
