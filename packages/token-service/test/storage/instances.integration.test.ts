import { connect, createServer } from 'node:net'
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify } from 'jose'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '@tokenwell/internal-testing/free-port'
import {
  postgresIsAbsent,
  startPostgres,
  startPrivatePostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { createServiceLogger } from '../../src/command/service-logger.ts'
import {
  adminSender,
  application,
  basic,
  introspect,
  postForm,
  requestToken,
  testService,
} from '../test-service.ts'

/** `pnpm soak` repeats everything more often. */
const times = process.env['TOKENWELL_SOAK'] === '1' ? 10 : 1
const secretHashKeys = ['an instance key of forty characters, more']

describe.skipIf(postgresIsAbsent)(`several instances on one PostgreSQL (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  async function twoInstances(options: Parameters<typeof testService>[0] = {}) {
    const storage = await postgres.createDatabase()
    const [one, other] = await Promise.all(
      [1, 2].map(() => testService({ storage, secretHashKeys, ...options })),
    )
    if (!one || !other) throw new Error('Two instances were expected.')
    return { storage, one: one.authUrl, other: other.authUrl }
  }

  it('start at the same time on an empty database with the same applications', async () => {
    const { one, other } = await twoInstances()
    expect([(await requestToken(one)).status, (await requestToken(other)).status]).toEqual([200, 200])
  })

  it('sign with the same keys, whose rotation under load rejects no token', async () => {
    let offsetMs = 0
    const clock = { now: () => Date.now() + offsetMs }
    const adminToken = 'administrator-token-0123456789-abcdef'
    const issuer = 'https://auth.example.com'
    const jwtApplication = { ...application, tokenFormat: 'jwt' as const, audiences: ['orders'] }
    const storage = await postgres.createDatabase()
    const options = { storage, secretHashKeys, applications: [jwtApplication], publicUrl: issuer, clock }
    const one = await testService({ ...options, adminPort: 0, adminToken })
    const other = await testService(options)
    let keyRequests = 0
    const apis = [one, other].map(({ authUrl }) =>
      createRemoteJWKSet(new URL(`${authUrl}/.well-known/jwks.json`), {
        [customFetch]: (url, init) => {
          keyRequests += 1
          return fetch(url, init)
        },
      }),
    )
    const verify = async (token: string) => {
      for (const keys of apis) await jwtVerify(token, keys, { issuer, audience: 'orders', typ: 'at+jwt' })
    }
    const tokenOf = async ({ authUrl }: { authUrl: string }) =>
      (await requestToken(authUrl)).body.access_token as string
    const tokens = [await tokenOf(one)]
    const rounds = 50 * times ** 2
    let verified = 0
    const isVerifying = () => verified < 4 * rounds
    const issuing = [one, other].map(async (instance) => {
      while (isVerifying()) tokens.push(await tokenOf(instance))
    })
    const verifying = [1, 2, 3, 4].map(async () => {
      for (let round = 0; round < rounds; round += 1) {
        await verify(tokens[Math.floor(Math.random() * tokens.length)]!)
        verified += 1
        if (verified !== 2 * rounds) continue
        offsetMs += 900_000
        const rotated = await adminSender(one.adminUrl!, adminToken)('POST', '/signing-keys/rotation')
        expect(rotated.status).toBe(200)
      }
    })
    await Promise.all([...issuing, ...verifying])
    const latest = [await tokenOf(one), await tokenOf(other)]
    for (const token of latest) await verify(token)
    const kids = [...new Set([...latest, tokens[0]!].map((token) => decodeProtectedHeader(token).kid))]
    expect(kids).toHaveLength(2)
    expect(keyRequests).toBe(2)
    // Unknown keys: within the cooldown, at most one request for each API.
    const flood = Array.from({ length: 200 }, (_, index) => {
      const header = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: `unknown-${index}` }))
      return verify(latest[0]!.replace(/^[^.]+/, header.toString('base64url')))
    })
    expect((await Promise.allSettled(flood)).filter(({ status }) => status === 'fulfilled')).toEqual([])
    expect(keyRequests).toBeLessThanOrEqual(4)
  })

  it("accept each other's tokens, and revoke them at once", async () => {
    const { one, other } = await twoInstances()
    for (let round = 0; round < 5 * times; round += 1) {
      const { body } = await requestToken(one)
      const token = body.access_token
      expect((await introspect(other, token)).body.active).toBe(true)
      expect((await postForm(`${other}/oauth/revoke`, { token }, basic(application))).status).toBe(200)
      expect((await introspect(one, token)).body).toEqual({ active: false })
    }
  })

  it('share the limit on failed attempts', async () => {
    const { one, other } = await twoInstances({ failureAttempts: 4 })
    const wrong = { ...application, clientSecret: 'wrong' }
    for (const instance of [one, other, one, other]) {
      expect((await requestToken(instance, wrong)).status).toBe(401)
    }
    expect((await requestToken(one, wrong)).status).toBe(429)
    expect((await requestToken(other, wrong)).status).toBe(429)
  })

  it('issue many tokens at once, each unique and stored', async () => {
    const { one, other } = await twoInstances()
    const responses = await Promise.all(
      Array.from({ length: 100 * times }, (_, index) => requestToken(index % 2 ? one : other)),
    )
    const tokens = responses.map(({ body }) => body.access_token)
    expect(new Set(tokens).size).toBe(100 * times)
    const active = await Promise.all(tokens.map(async (token) => (await introspect(one, token)).body.active))
    expect(active.every(Boolean)).toBe(true)
  })

  it('respond with 503 while their connections are cut, log why, and recover', async () => {
    const lines: string[] = []
    const logger = createServiceLogger('error', { write: (line) => void lines.push(line) })
    const { storage, one } = await twoInstances({ logger })
    expect((await requestToken(one)).status).toBe(200)
    const admin = new Client({ connectionString: storage })
    await admin.connect()
    const cutting = (async () => {
      for (let cut = 0; cut < 5 * times; cut += 1) {
        await admin.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
        )
      }
    })()
    const statuses: number[] = []
    for (let attempt = 0; attempt < 50 * times; attempt += 1) statuses.push((await requestToken(one)).status)
    await cutting
    await admin.end()
    expect([...new Set(statuses)].filter((status) => status !== 200 && status !== 503)).toEqual([])
    // At most one line of each instance in a minute, without what `pg` attaches to an error: its client, with the key that cancels a query.
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.length).toBeLessThanOrEqual(2)
    for (const line of lines) expect(line).toContain('"msg":"The storage failed: ')
    expect(lines.join('')).not.toMatch(/secretKey|processID|"client"/)
    expect((await requestToken(one)).status).toBe(200)
    expect((await fetch(`${one}/readyz`)).status).toBe(200)
  })

  it('start without the database, respond with 503, and are ready once it can be reached', async () => {
    const url = new URL(await postgres.createDatabase())
    const server = { host: url.hostname, port: Number(url.port) }
    const port = await freePort()
    url.port = String(port)
    const { authUrl } = await testService({ storage: url.href, secretHashKeys })
    expect((await fetch(`${authUrl}/healthz`)).status).toBe(200)
    expect((await fetch(`${authUrl}/readyz`)).status).toBe(503)
    expect((await requestToken(authUrl)).status).toBe(503)
    const reachable = createServer((socket) => socket.pipe(connect(server)).pipe(socket)).listen(
      port,
      '127.0.0.1',
    )
    onTestFinished(() => void reachable.close())
    await expect.poll(async () => (await fetch(`${authUrl}/readyz`)).status).toBe(200)
    expect((await requestToken(authUrl)).status).toBe(200)
  })

  it('are not ready without the database, and respond with 503', async () => {
    const cluster = await startPrivatePostgres()
    const storage = await cluster.createDatabase()
    const { authUrl } = await testService({ storage, secretHashKeys })
    expect((await fetch(`${authUrl}/readyz`)).status).toBe(200)
    await cluster.stop()
    expect((await fetch(`${authUrl}/readyz`)).status).toBe(503)
    const { status, body, headers } = await requestToken(authUrl)
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    expect(body.fault.detail.errorcode).toBe('messaging.adaptors.http.flow.ServiceUnavailable')
  })
})
