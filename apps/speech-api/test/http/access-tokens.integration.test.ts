import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSpeechApi } from '@tokenwell/speech-api'
import { sendRaw } from '../support/raw-request.ts'
import {
  type TestApi,
  VALID_TOKEN,
  startTestApi,
  createCountingEngine,
  type CountingEngine,
} from '../support/test-api.ts'

let api: TestApi
let engine: CountingEngine

beforeEach(async () => {
  engine = createCountingEngine()
  api = await startTestApi({ engine })
})
afterEach(() => api[Symbol.asyncDispose]())

const activeToken = (facts: object) => ({
  active: true,
  client_id: 'a-client',
  exp: Math.floor(Date.now() / 1_000) + 60,
  api_products: ['speech-to-text'],
  ...facts,
})
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const INVALID =
  'Bearer realm="speech", error="invalid_token", error_description="The access token is invalid or expired"'

describe('accepts', () => {
  test('a token that covers the product', async () => {
    expect((await api.post('audio')).status).toBe(200)
    expect(engine.bytes).toBe(5)
  })

  test('the scheme in upper and lower case', async () => {
    expect((await api.post('audio', { authorization: `bEARER  ${VALID_TOKEN}` })).status).toBe(200)
  })

  test('a token without an expiry time', async () => {
    api.tokenService.tokens.set('endless', activeToken({ exp: undefined }))
    expect((await api.post('audio', bearer('endless'))).status).toBe(200)
  })
})

describe('rejects', () => {
  test.each(['', 'Basic Zm9vOmJhcg==', 'Bearer', VALID_TOKEN])(
    'a request without a token, with a challenge without a reason: "%s"',
    async (authorization) => {
      const response = await api.post('audio', { authorization })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="speech"')
      expect(await response.json()).toMatchObject({
        fault: { detail: { errorcode: 'oauth.v2.InvalidRequest' } },
      })
      expect(api.tokenService.requests).toHaveLength(0)
    },
  )

  test.each([
    ['unknown', undefined],
    ['inactive', { active: false }],
    ['expired according to its expiry time', activeToken({ exp: Math.floor(Date.now() / 1_000) - 1 })],
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
    'a malformed token without introspection: %s',
    async (token) => {
      const response = await api.post('audio', bearer(token))
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(INVALID)
      expect(api.tokenService.requests).toHaveLength(0)
    },
  )

  test.each([
    ['another product', ['translation']],
    ['no product', []],
    ['a product with the same prefix', ['speech-to-text-beta']],
    ['products that are not a list', 'speech-to-text'],
    ['no information about products', undefined],
  ])('a token with %s', async (_, products) => {
    api.tokenService.tokens.set('other', activeToken({ api_products: products }))
    const response = await api.post('audio', bearer('other'))
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toContain(
      'Bearer realm="speech", error="insufficient_scope"',
    )
    expect(engine.calls).toBe(0)
  })
})

describe('responds with 503 when introspection fails:', () => {
  const expectUnavailable = async () => {
    const response = await api.post('audio')
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(await response.json()).toMatchObject({
      fault: { detail: { errorcode: 'messaging.adaptors.http.flow.ServiceUnavailable' } },
    })
    expect(engine.calls).toBe(0)
  }

  test('the token service is down', async () => {
    await api.tokenService.stop()
    await expectUnavailable()
  })

  test.each([401, 403, 404, 429, 500, 503])('the token service responds with status %d', async (status) => {
    api.tokenService.status = status
    await expectUnavailable()
  })

  test.each(['', 'true', 'null', '[]', '{"active":"true"}', '{"act', '<html>'])(
    'the token service responds with %s',
    async (body) => {
      api.tokenService.body = body
      await expectUnavailable()
    },
  )

  test('the token service redirects', async () => {
    api.tokenService.status = 302
    await expectUnavailable()
  })

  test('the next request introspects the token again', async () => {
    api.tokenService.status = 500
    await expectUnavailable()
    api.tokenService.status = 200
    expect((await api.post('audio')).status).toBe(200)
  })
})

test('checks the token before it reads the body', async () => {
  const delayed = Promise.withResolvers<void>()
  api.tokenService.delayed = delayed.promise
  using request = sendRaw(
    api.url,
    { authorization: 'Bearer bad', 'content-length': '1000000' },
    'the beginning',
  )
  await api.tokenService.nextRequest()
  delayed.resolve()
  expect(await request.received('\r\n\r\n')).toContain('401 Unauthorized')
  expect(engine.calls).toBe(0)
})

test('checks the token before the content type', async () => {
  expect((await api.post('text', { authorization: 'Bearer bad', 'content-type': 'text/plain' })).status).toBe(
    401,
  )
})

test('rejects a client that sends Expect: 100-continue before it sends the body', async () => {
  const headers = { authorization: 'Bearer bad', 'content-length': '1000000', expect: '100-continue' }
  using request = sendRaw(api.url, headers)
  const response = await request.received('\r\n\r\n')
  expect(response).toContain('HTTP/1.1 401 Unauthorized')
  expect(response).not.toContain('100 Continue')
  expect(response.toLowerCase()).toContain('connection: close')
  await request.closed
})

test('responds with 100 Continue if the token is valid', async () => {
  using request = sendRaw(api.url, { 'content-length': '5', expect: '100-continue' })
  expect(await request.received('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  request.socket.write('audio')
  expect(await request.received('"segments"')).toContain('HTTP/1.1 200 OK')
  expect(engine.bytes).toBe(5)
})

test('introspects a token once for concurrent requests', async () => {
  const delayed = Promise.withResolvers<void>()
  api.tokenService.delayed = delayed.promise
  const all = Promise.all(Array.from({ length: 20 }, () => api.post('audio')))
  await api.tokenService.nextRequest()
  delayed.resolve()
  expect((await all).map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(api.tokenService.requests).toHaveLength(1)
})

test('sends its own credentials, form-encoded', async () => {
  await using other = await startTestApi({ engine, clientId: 'api: ä', clientSecret: 'a b+c%&"' })
  await other.post('audio')
  const [seen] = other.tokenService.requests
  expect(seen).toMatchObject({ method: 'POST', path: '/oauth/introspect', token: VALID_TOKEN })
  expect(seen?.contentType).toContain('application/x-www-form-urlencoded')
  const [scheme, credentials] = seen?.authorization.split(' ') ?? []
  expect(scheme).toBe('Basic')
  expect(Buffer.from(credentials ?? '', 'base64').toString()).toBe('api%3A+%C3%A4:a+b%2Bc%25%26%22')
})

const origin = 'https://app.example'
const options = { engine: createCountingEngine(), allowedOrigins: [origin, 'http://localhost:3000'] }
const corsHeader = ({ headers }: Response, name: string) => headers.get(`access-control-${name}`)

test('allows pages of the given origins to read responses and errors', async () => {
  await using api = await startTestApi(options)
  for (const headers of [
    { prefer: 'respond-async' },
    { authorization: '' },
    { authorization: 'Bearer bad' },
    { 'content-type': 'text/plain' },
  ]) {
    const response = await api.post('audio', { ...headers, origin })
    expect(corsHeader(response, 'allow-origin')).toBe(origin)
    expect(response.headers.get('vary')).toMatch(/origin/i)
    const readable = corsHeader(response, 'expose-headers')?.toLowerCase().split(/, */)
    expect(readable).toEqual(['www-authenticate', 'retry-after', 'location'])
  }
  expect(corsHeader(await fetch(`${api.url}/nowhere`, { headers: { origin } }), 'allow-origin')).toBe(origin)
})

test('responds to preflight requests without a token', async () => {
  await using api = await startTestApi(options)
  for (const [path, method] of [
    ['/v1/transcriptions', 'POST'],
    ['/v1/transcriptions/1', 'DELETE'],
  ] as const) {
    const response = await fetch(`${api.url}${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method },
    })
    expect(response.status).toBe(204)
    expect(corsHeader(response, 'allow-origin')).toBe(origin)
    expect(corsHeader(response, 'allow-methods')).toContain(method)
    expect(corsHeader(response, 'allow-headers')).toBe('Authorization, Content-Type, Prefer')
    expect(corsHeader(response, 'allow-credentials')).toBeNull()
  }
})

test.each(['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null'])(
  'does not allow pages of %s',
  async (foreign) => {
    await using api = await startTestApi(options)
    expect(corsHeader(await api.post('audio', { origin: foreign }), 'allow-origin')).toBeNull()
  },
)

test('allows no pages by default', async () => {
  await using api = await startTestApi({ engine: createCountingEngine() })
  expect(corsHeader(await api.post('audio', { origin }), 'allow-origin')).toBeNull()
})

test.each(['*', 'https://app.example/', 'https://app.example/page', 'app.example', 'null', ''])(
  'rejects the origin "%s"',
  (wrong) => {
    const create = () =>
      createSpeechApi({
        authUrl: 'https://auth.example',
        clientId: 'id',
        clientSecret: 's',
        allowedOrigins: [wrong],
      })
    expect(create).toThrow('is not a valid origin. Set only scheme, host and port')
  },
)
