import { generateKeyPair } from 'jose'
import { describe, expect, it } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { application, requestToken, testService, type JsonResponse } from '../test-service.ts'
import { algorithm, assertionFor, jwksOf, keyClientId, pair, present } from './client-assertion.ts'

const table = createSoakTable()
const other = await generateKeyPair(algorithm)
const count = 5_000
const warmUp = 500
const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

type Attempt = (
  authUrl: string,
  kind: 'unknown' | 'wrong',
) => Promise<{ request: () => Promise<JsonResponse> }>

const bySecret: Attempt = async (authUrl, kind) => {
  const attempts = {
    unknown: { ...application, clientId: 'demo-cliemt' },
    wrong: { ...application, clientSecret: 'demo-secret-9876543210' },
  }
  return { request: () => requestToken(authUrl, attempts[kind]) }
}

const byAssertion: Attempt = async (authUrl, kind) => {
  const id = kind === 'unknown' ? 'key-cliemt' : keyClientId
  const assertion = await assertionFor(authUrl, { key: other.privateKey, claims: { iss: id, sub: id } })
  return { request: () => present(authUrl, assertion) }
}

async function compare(storage: string, attempt: Attempt = bySecret): Promise<number> {
  const what = `rejected ${attempt === bySecret ? 'secrets' : 'assertions'}, ${storage.split(':')[0]}`
  return (await table.measure(what, () => measure(storage, attempt))).difference
}

/** Alternating, so that other load on the machine affects both in the same way. */
async function measure(storage: string, attempt: Attempt) {
  const jwks = await jwksOf(pair.publicKey)
  const { authUrl } = await testService({
    storage,
    secretHashKeys: ['k'.repeat(40)],
    applications: [application, { name: 'by key', clientId: keyClientId, jwks }],
    failureAttempts: 1e9,
  })
  const times = { unknown: [] as number[], wrong: [] as number[] }
  for (let round = 0; round < count + warmUp; round += 1) {
    for (const kind of ['unknown', 'wrong'] as const) {
      const { request } = await attempt(authUrl, kind)
      const before = performance.now()
      const { status } = await request()
      if (round >= warmUp) times[kind].push(performance.now() - before)
      expect(status).toBe(401)
    }
  }
  const [unknown, wrong] = [median(times.unknown), median(times.wrong)]
  const difference = Math.abs(unknown - wrong) / Math.min(unknown, wrong)
  const medians = `unknown client ${unknown.toFixed(4)} ms, wrong secret ${wrong.toFixed(4)} ms`
  const figures = `${medians}, ${(difference * 100).toFixed(1)} % apart`
  const worstMs = Math.max(...times.unknown, ...times.wrong)
  return { difference, calls: 2 * count, failures: 0, worstMs, figures }
}

describe('an unknown client takes as long as a wrong secret', () => {
  it('in memory: medians within 5 % over 5,000 each', async () => {
    expect(await compare('memory')).toBeLessThan(0.05)
  })

  it('by assertion: medians within 5 %', async () => {
    expect(await compare('memory', byAssertion)).toBeLessThan(0.05)
  })

  // A client that exists is a row that PostgreSQL sends: about 0.15 ms. A further query would be more than 10 %.
  it.skipIf(postgresIsAbsent)(`on PostgreSQL: medians within 10 % (${withoutPostgres})`, async () => {
    const postgres = await startPostgres()
    try {
      expect(await compare(await postgres.createDatabase())).toBeLessThan(0.1)
    } finally {
      await postgres.stop()
    }
  })
})
