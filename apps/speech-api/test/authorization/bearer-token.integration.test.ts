import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ApiUnderTest, GOOD_TOKEN, startApi } from '../api-under-test.ts'
import { createListeningEngine, type ListeningEngine } from '../listening-engine.ts'
import { sendRaw } from '../raw-request.ts'

let api: ApiUnderTest
let engine: ListeningEngine

beforeEach(async () => {
  engine = createListeningEngine()
  api = await startApi({ engine })
})
afterEach(() => api[Symbol.asyncDispose]())

const about = (facts: object) => ({
  active: true,
  client_id: 'a-client',
  exp: Math.floor(Date.now() / 1_000) + 60,
  api_products: ['speech-to-text'],
  ...facts,
})
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const INVALID =
  'Bearer realm="speech", error="invalid_token", error_description="The access token is invalid or expired"'

describe('who is let in', () => {
  test('a token that covers the product', async () => {
    expect((await api.post('audio')).status).toBe(200)
    expect(engine.bytes).toBe(5)
  })

  test('the scheme may be written in any case', async () => {
    expect((await api.post('audio', { authorization: `bEARER  ${GOOD_TOKEN}` })).status).toBe(200)
  })

  test('a token of which no end is known', async () => {
    api.tokenService.tokens.set('endless', about({ exp: undefined }))
    expect((await api.post('audio', bearer('endless'))).status).toBe(200)
  })
})

describe('who is not', () => {
  test.each(['', 'Basic Zm9vOmJhcg==', 'Bearer', GOOD_TOKEN])(
    'without a token, the challenge gives no reason: "%s"',
    async (authorization) => {
      const response = await api.post('audio', { authorization })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="speech"')
      expect(await response.json()).toMatchObject({ error: { code: 'token_missing' } })
      expect(api.tokenService.seen).toHaveLength(0)
    },
  )

  test.each([
    ['unknown', undefined],
    ['inactive', { active: false }],
    ['expired, whatever the token service says', about({ exp: Math.floor(Date.now() / 1_000) - 1 })],
  ])('a token that is %s', async (_, facts) => {
    if (facts) api.tokenService.tokens.set('bad', facts)
    const response = await api.post('audio', bearer('bad'))
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(INVALID)
    expect(await response.json()).toEqual({
      fault: {
        faultstring: 'Invalid Access Token',
        detail: { errorcode: 'keymanagement.service.invalid_access_token' },
      },
    })
  })

  test.each(['two words', 'quo"te', 'comma,comma'])(
    'a token that cannot be one is not asked about: %s',
    async (token) => {
      const response = await api.post('audio', bearer(token))
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(INVALID)
      expect(api.tokenService.seen).toHaveLength(0)
    },
  )

  test.each([
    ['another product', ['translation']],
    ['no product', []],
    ['a product that only begins alike', ['speech-to-text-beta']],
    ['products that are no list', 'speech-to-text'],
    ['nothing said of products', undefined],
  ])('a token with %s', async (_, products) => {
    api.tokenService.tokens.set('other', about({ api_products: products }))
    const response = await api.post('audio', bearer('other'))
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toContain(
      'Bearer realm="speech", error="insufficient_scope"',
    )
    expect(engine.calls).toBe(0)
  })
})

describe('a token that cannot be checked lets nobody in', () => {
  const refused = async () => {
    const response = await api.post('audio')
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(await response.json()).toMatchObject({ error: { code: 'token_not_checked' } })
    expect(engine.calls).toBe(0)
  }

  test('as the token service is down', async () => {
    await api.tokenService.stop()
    await refused()
  })

  test.each([401, 403, 404, 429, 500, 503])('as the token service answers %d', async (status) => {
    api.tokenService.status = status
    await refused()
  })

  test.each(['', 'true', 'null', '[]', '{"active":"true"}', '{"act', '<html>'])(
    'as the token service answers %s',
    async (body) => {
      api.tokenService.body = body
      await refused()
    },
  )

  test('as the token service redirects', async () => {
    api.tokenService.status = 302
    await refused()
  })

  test('and is asked about again at once', async () => {
    api.tokenService.status = 500
    await refused()
    api.tokenService.status = 200
    expect((await api.post('audio')).status).toBe(200)
  })
})

test('the token is checked before a byte of the body is read', async () => {
  const held = Promise.withResolvers<void>()
  api.tokenService.held = held.promise
  using request = sendRaw(
    api.url,
    { authorization: 'Bearer bad', 'content-length': '1000000' },
    'the beginning',
  )
  await api.tokenService.asked()
  held.resolve()
  expect(await request.received('\r\n\r\n')).toContain('401 Unauthorized')
  expect(engine.calls).toBe(0)
})

test('the token is checked before anything is said of the body', async () => {
  expect((await api.post('text', { authorization: 'Bearer bad', 'content-type': 'text/plain' })).status).toBe(
    401,
  )
})

test('a client that asks first is refused before it sends the body', async () => {
  const headers = { authorization: 'Bearer bad', 'content-length': '1000000', expect: '100-continue' }
  using request = sendRaw(api.url, headers)
  const answer = await request.received('\r\n\r\n')
  expect(answer).toContain('HTTP/1.1 401 Unauthorized')
  expect(answer).not.toContain('100 Continue')
  expect(answer.toLowerCase()).toContain('connection: close')
  await request.closed
})

test('a client that asks first is told to go on when its token is good', async () => {
  using request = sendRaw(api.url, { 'content-length': '5', expect: '100-continue' })
  expect(await request.received('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  request.socket.write('audio')
  expect(await request.received('"segments"')).toContain('HTTP/1.1 200 OK')
  expect(engine.bytes).toBe(5)
})

test('one token is asked about once by many requests at a time', async () => {
  const held = Promise.withResolvers<void>()
  api.tokenService.held = held.promise
  const all = Promise.all(Array.from({ length: 20 }, () => api.post('audio')))
  await api.tokenService.asked()
  held.resolve()
  expect((await all).map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(api.tokenService.seen).toHaveLength(1)
})

test('the API shows its own credentials, form-encoded before they are joined', async () => {
  await using other = await startApi({ engine, clientId: 'api: ä', clientSecret: 'a b+c%&"' })
  await other.post('audio')
  const [seen] = other.tokenService.seen
  expect(seen).toMatchObject({ method: 'POST', path: '/oauth/introspect', token: GOOD_TOKEN })
  expect(seen?.contentType).toContain('application/x-www-form-urlencoded')
  const [scheme, credentials] = seen?.authorization.split(' ') ?? []
  expect(scheme).toBe('Basic')
  expect(Buffer.from(credentials ?? '', 'base64').toString()).toBe('api%3A+%C3%A4:a+b%2Bc%25%26%22')
})
