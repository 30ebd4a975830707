import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { startTokenService, type TokenServiceOptions } from '@tokenwell/token-service'
import { createJournal } from '../../src/sandbox/journal.ts'
import { application, introspect, requestToken, testService, tokenPath } from '../test-service.ts'

const clientId = application.clientId

async function sandboxed(options: TokenServiceOptions = {}) {
  const { authUrl, sandboxUrl } = await testService({ sandbox: true, ...options })
  if (sandboxUrl === undefined) throw new Error('There is no sandbox.')

  async function control(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${sandboxUrl}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  return { authUrl, sandboxUrl, control }
}

it('rejects a move of the clock beyond the year 9999, and keeps the clock usable', async () => {
  const { control } = await sandboxed()
  const statuses = new Set<number>()
  for (let time = 0; time < 260; time++) {
    statuses.add((await control('POST', '/clock', { advanceSeconds: 1e9 })).status)
  }
  expect([...statuses]).toEqual([200, 400])
  const { status, body } = await control('GET', '/clock')
  expect(status).toBe(200)
  expect(body.now).toMatch(/^9\d{3}-/)
})

it('has its moved clock in the Date header of its responses', async () => {
  const { authUrl, control } = await sandboxed()
  const now = '2031-05-06T07:08:09Z'
  await control('POST', '/clock', { now })
  const { headers } = await requestToken(authUrl)
  const laterMs = Date.parse(headers.get('date')!) - Date.parse(now)
  expect(laterMs).toBeGreaterThanOrEqual(0)
  expect(laterMs).toBeLessThan(600_000)
})

describe('scripted faults', () => {
  it('are injected into the next N requests only', async () => {
    const { authUrl, control } = await sandboxed()
    const response = { fault: { faultstring: 'Spike arrest' } }
    const added = await control('POST', '/faults', {
      requests: 2,
      status: 429,
      headers: { 'retry-after': '7' },
      body: response,
    })
    expect(added).toMatchObject({ status: 201, body: { id: 1, remaining: 2 } })
    for (let index = 0; index < 2; index += 1) {
      const { status, headers, body } = await requestToken(authUrl)
      expect([status, headers.get('retry-after'), body]).toEqual([429, '7', response])
    }
    expect((await requestToken(authUrl)).status).toBe(200)
    expect((await control('GET', '/faults')).body).toEqual([])
  })

  it.each([
    [{ body: 'busy' }, 200, 'text/plain; charset=utf-8', 'busy'],
    [{ status: 503, body: { busy: true } }, 503, 'application/json; charset=utf-8', '{"busy":true}'],
    [{ status: 502 }, 502, null, ''],
    [{ body: null }, 200, 'application/json; charset=utf-8', 'null'],
    [{ body: '<p>', headers: { 'content-type': 'text/html' } }, 200, 'text/html', '<p>'],
  ])('can have text, JSON or nothing as its body: %j', async (fault, status, type, text) => {
    const { authUrl, control } = await sandboxed()
    await control('POST', '/faults', fault)
    const response = await fetch(`${authUrl}${tokenPath}`, { method: 'POST' })
    expect([response.status, response.headers.get('content-type')]).toEqual([status, type])
    expect(await response.text()).toBe(text)
  })

  it('can be removed', async () => {
    const { authUrl, control } = await sandboxed()
    await control('POST', '/faults', { status: 503 })
    expect((await control('DELETE', '/faults')).status).toBe(204)
    expect((await requestToken(authUrl)).status).toBe(200)
  })

  it('can match one client', async () => {
    const other = { ...application, clientId: 'other' }
    const { authUrl, control } = await sandboxed({ applications: [application, other] })
    await control('POST', '/faults', { clientId: 'other', status: 503 })
    expect((await requestToken(authUrl)).status).toBe(200)
    expect((await requestToken(authUrl, other)).status).toBe(503)
    expect((await requestToken(authUrl, other)).status).toBe(200)
  })

  it('can match another endpoint', async () => {
    const { authUrl, control } = await sandboxed()
    await control('POST', '/faults', { endpoint: 'introspection', status: 500 })
    const { status, body } = await requestToken(authUrl)
    expect(status).toBe(200)
    expect((await introspect(authUrl, body.access_token)).status).toBe(500)
    expect((await introspect(authUrl, body.access_token)).status).toBe(200)
  })

  it('can delay a response', async () => {
    const { authUrl, control } = await sandboxed()
    await control('POST', '/faults', { latencyMs: 150 })
    const before = performance.now()
    expect((await requestToken(authUrl)).status).toBe(200)
    expect(performance.now() - before).toBeGreaterThan(140)
  })

  it('can close the connection without a response', async () => {
    const { authUrl, control } = await sandboxed()
    await control('POST', '/faults', { drop: true })
    await expect(requestToken(authUrl)).rejects.toThrow(/fetch failed/)
    expect((await requestToken(authUrl)).status).toBe(200)
    expect((await control('GET', '/journal')).body.counts.status).toEqual({ 0: 1, 200: 1 })
  })

  it('can truncate a response', async () => {
    const { authUrl, control } = await sandboxed()
    await control('POST', '/faults', { truncateAfterBytes: 20 })
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    const form = `client_id=${clientId}&client_secret=${application.clientSecret}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const received = await new Promise<{ text: string; failed: boolean; announced: number }>((resolve) => {
      const request = httpRequest(url, { method: 'POST', headers }, (response) => {
        let text = ''
        const announced = Number(response.headers['content-length'])
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('error', () => resolve({ text, failed: true, announced }))
        response.on('end', () => resolve({ text, failed: false, announced }))
      })
      request.end(form)
    })
    expect(received.text).toHaveLength(20)
    expect(received.failed).toBe(true)
    expect(received.announced).toBeGreaterThan(300)
  })

  it.each(['trailer', 'Transfer-Encoding', 'content-length', 'connection'])(
    'cannot set the header %s, which would end the sandbox or the connection',
    async (name) => {
      const { authUrl, control } = await sandboxed()
      const added = await control('POST', '/faults', { body: 'busy', headers: { [name]: 'x' } })
      expect(added).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/^headers must not contain .*\.$/) },
      })
      expect((await requestToken(authUrl)).status).toBe(200)
    },
  )

  it('are rejected with a reason if they are invalid, and so is another time', async () => {
    const { control } = await sandboxed()
    const reasons: [fault: unknown, reason: string][] = [
      [
        {},
        'The request body must contain at least one of latencyMs, status, body, drop, truncateAfterBytes and jwt.',
      ],
      [[], 'The request body must be an object.'],
      [{ status: 99 }, 'status must be at least 200.'],
      [{ status: '503' }, 'status must be a number.'],
      [{ status: 503.5 }, 'status must be a whole number.'],
      [{ requests: 0, drop: true }, 'requests must be at least 1.'],
      [{ endpoint: 'portal', drop: true }, 'endpoint must be one of token, introspection, revocation, keys.'],
      [{ status: 503, headers: { 'x-a': 'é' } }, 'headers.x-a must be printable ASCII.'],
      [{ status: 503, headers: { 'x a': '1' } }, 'headers.x a is invalid.'],
      [{ status: 503, headers: 'x-a: 1' }, 'headers must be an object.'],
      [{ unknown: 1, drop: true }, 'unknown is unknown.'],
    ]
    for (const [fault, error] of reasons) {
      expect(await control('POST', '/faults', fault)).toMatchObject({ status: 400, body: { error } })
    }
    const times: [time: unknown, reason: string][] = [
      [
        {},
        'The request body must contain either advanceSeconds (a number) or now (a date and time, such as 2030-01-31T00:00:00Z).',
      ],
      [{ now: 'tomorrow' }, 'now must be a date and time with a time zone, such as 2030-01-31T00:00:00Z.'],
    ]
    for (const [time, error] of times) {
      expect(await control('POST', '/clock', time)).toMatchObject({ status: 400, body: { error } })
    }
  })
})

describe('the moved clock', () => {
  it('applies to expiry and introspection', async () => {
    const { authUrl, control } = await sandboxed()
    const { body: token } = await requestToken(authUrl)
    const { body: moved } = await control('POST', '/clock', { advanceSeconds: 3500 })
    expect(moved.offsetMs).toBe(3_500_000)
    expect((await introspect(authUrl, token.access_token)).body.active).toBe(true)
    await control('POST', '/clock', { advanceSeconds: 101 })
    expect((await introspect(authUrl, token.access_token)).body.active).toBe(false)
    const { body: later } = await requestToken(authUrl)
    expect(Number(later.issued_at) - Number(token.issued_at)).toBeGreaterThanOrEqual(3_601_000)
    expect((await introspect(authUrl, later.access_token)).body.active).toBe(true)
  })

  it.each(['2031-05-04T03:02:01Z', '2031-05-04T05:02:01+02:00'])(
    'can be set to %s, and keeps running',
    async (now) => {
      const { authUrl, control } = await sandboxed()
      await control('POST', '/clock', { now })
      expect((await control('GET', '/clock')).body.now).toMatch(/^2031-05-04T03:02:/)
      const issuedAt = Number((await requestToken(authUrl)).body.issued_at)
      expect(issuedAt).toBeGreaterThanOrEqual(Date.parse('2031-05-04T03:02:01Z'))
    },
  )
})

describe('the journal', () => {
  it('counts requests by path, status and client, without secrets', async () => {
    const { authUrl, control } = await sandboxed()
    const { body: token } = await requestToken(authUrl)
    await requestToken(authUrl, { ...application, clientSecret: 'canary-wrong-secret' })
    await requestToken(authUrl, { ...application, clientId: 'canary-as-client-id' })
    await introspect(authUrl, token.access_token)
    await fetch(`${authUrl}${tokenPath}?client_secret=canary-in-query`)
    const { body } = await control('GET', '/journal')
    expect(body).toMatchObject({
      total: 5,
      counts: {
        path: { [tokenPath]: 4, '/oauth/introspect': 1 },
        status: { 200: 2, 401: 2, 405: 1 },
        client: { [clientId]: 2, 'speech-api': 1 },
      },
    })
    expect(body.requests[1]).toMatchObject({
      number: 2,
      method: 'POST',
      status: 401,
      clientId,
      reason: 'invalid_client',
    })
    const text = JSON.stringify(body)
    expect(text).not.toContain('canary')
    expect(text).not.toContain(application.clientSecret)
    expect(text).not.toContain(token.access_token)
    await control('DELETE', '/journal')
    expect((await control('GET', '/journal')).body.total).toBe(0)
  })

  it('names the registered clients of requests with faults', async () => {
    const { authUrl, control } = await sandboxed()
    await control('POST', '/faults', { requests: 2, status: 503 })
    await requestToken(authUrl)
    await requestToken(authUrl, { ...application, clientId: 'canary-as-client-id' })
    const { requests } = (await control('GET', '/journal')).body
    expect(requests).toMatchObject([{ status: 503, clientId }, { status: 503 }])
    expect(requests[1]).not.toHaveProperty('clientId')
  })
})

describe('a reset', () => {
  it('resets tokens, faults, the clock, failures and the journal', async () => {
    const { authUrl, control } = await sandboxed({ failureAttempts: 1 })
    const { body: token } = await requestToken(authUrl)
    const wrong = { ...application, clientSecret: 'wrong' }
    await requestToken(authUrl, wrong)
    expect((await requestToken(authUrl, wrong)).status).toBe(429)
    await control('POST', '/faults', { status: 500 })
    await control('POST', '/clock', { advanceSeconds: 1e6 })
    expect((await control('POST', '/reset', {})).status).toBe(204)
    expect((await introspect(authUrl, token.access_token)).body).toEqual({ active: false })
    expect((await requestToken(authUrl, wrong)).status).toBe(401)
    const { status, body } = await requestToken(authUrl)
    expect(status).toBe(200)
    expect(Math.abs(Number(body.issued_at) - Date.now())).toBeLessThan(60_000)
    expect((await control('GET', '/journal')).body.total).toBe(3)
  })
})

describe('the control listener', () => {
  it('exists only with the sandbox option, and not on PostgreSQL', async () => {
    expect((await testService()).sandboxUrl).toBeUndefined()
    const onPostgres = startTokenService({
      sandbox: true,
      storage: 'postgres://127.0.0.1/x',
      secretHashKeys: ['k'.repeat(32)],
    })
    await expect(onPostgres).rejects.toThrow(/not available with PostgreSQL/)
  })

  it('always listens on loopback', async () => {
    const { sandboxUrl } = await sandboxed({ host: '0.0.0.0' })
    expect(new URL(sandboxUrl).hostname).toBe('127.0.0.1')
  })

  it('rejects requests from web pages: any Origin, another Host, a form', async () => {
    const { sandboxUrl, control } = await sandboxed()
    const origins = ['https://evil.example', 'null', sandboxUrl]
    for (const origin of origins) {
      expect((await control('POST', '/reset', {}, { origin })).status).toBe(403)
    }
    const rebound = await new Promise((resolve, reject) => {
      const headers = { host: 'evil.example' }
      httpRequest(`${sandboxUrl}/journal`, { headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end()
    })
    expect(rebound).toBe(403)
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const response = await fetch(`${sandboxUrl}/faults`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: '{"drop":true}',
      })
      expect(response.status).toBe(415)
    }
    expect((await fetch(`${sandboxUrl}/reset`, { method: 'POST' })).status).toBe(415)
    expect((await control('GET', '/faults')).body).toEqual([])
  })
})

it('keeps the latest 10,000 requests, and counts all of them', () => {
  const journal = createJournal()
  const request = { method: 'POST', path: '/', status: 200, durationMs: 0.6, address: '' }
  for (let time = 0; time < 10_001; time += 1) journal.record(request)
  const { total, counts, requests } = journal.read()
  expect([total, counts.path['/'], requests.length, requests[0]?.number]).toEqual([10_001, 10_001, 10_000, 2])
  expect(requests[0]?.durationMs).toBe(1)
  expect(counts.client).toEqual({})
})
