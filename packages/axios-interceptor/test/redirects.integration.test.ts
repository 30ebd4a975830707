import { attachTokens } from '@tokenwell/axios-interceptor'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { create, getAdapter, type CreateAxiosDefaults } from 'axios'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const servers = useTestServers()

function clientOf(config: CreateAxiosDefaults = {}) {
  const api = create({ baseURL: servers.api.origin, validateStatus: null, ...config })
  attachTokens(api, servers.tokens)
  return api
}

describe.each(['http', 'fetch'])('over %s', (adapter) => {
  it('does not send a POST again whose redirect leads to a 401', async () => {
    servers.api.respond = ({ url }) =>
      url === '/orders' ? json({}, 303, { location: '/list' }) : json({}, 401)
    const { status } = await clientOf({ adapter }).post('/orders', { item: 'tea' })
    expect(status).toBe(401)
    expect(servers.api.requests.map(({ method, url }) => `${method} ${url}`)).toStrictEqual([
      'POST /orders',
      'GET /list',
      // Sent again with a new token, because it was read here that it is another request.
      ...(adapter === 'fetch' ? ['GET /list'] : []),
    ])
  })

  it('repeats a GET whose redirect leads to a 401', async () => {
    servers.api.rejects = (token) => token === servers.endpoint.issued[0]
    const { respond } = servers.api
    servers.api.respond = (request) =>
      request.url === '/old' ? json({}, 302, { location: '/new' }) : respond(request)
    expect((await clientOf({ adapter }).get('/old')).status).toBe(200)
    // axios' http adapter follows redirects itself.
    const repeated = adapter === 'http' ? ['/old', '/new'] : ['/new']
    expect(servers.api.requests.map(({ url }) => url)).toStrictEqual(['/old', '/new', ...repeated])
  })

  it('keeps a token when another origin responds with 401 after a redirect', async () => {
    const location = `${servers.other.origin}/moved`
    servers.api.respond = () => json({}, 307, { location })
    servers.other.respond = () => json({}, 401)
    const api = clientOf({ adapter })
    for (const item of ['tea', 'milk']) expect((await api.post('/orders', { item })).status).toBe(401)
    expect(servers.endpoint.issued).toHaveLength(1)
    expect(servers.api.requests).toHaveLength(2)
    expect(servers.other.tokens).toStrictEqual([undefined, undefined])
  })

  it('recovers from a revocation although one path always responds with 401', async () => {
    const { respond } = servers.api
    servers.api.respond = (request) => (request.url === '/broken' ? json({}, 401) : respond(request))
    const api = clientOf({ adapter })
    for (let count = 0; count < 3; count++) expect((await api.get('/broken')).status).toBe(401)
    const revoked = new Set(servers.endpoint.issued)
    servers.api.rejects = (token) => revoked.has(token)
    expect((await api.get('/orders')).status).toBe(200)
  })
})

const realFetch = globalThis.fetch
/** A `fetch` that sends every header to every origin, as in Workers with a compatibility date before 2025-09-01. */
const leakingFetch: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  const response = await realFetch(new Request(request, { redirect: 'manual' }))
  const location = response.headers.get('location')
  if (request.redirect !== 'follow' || location === null) return response
  return leakingFetch(new URL(location, request.url), { headers: request.headers })
}

describe('over a fetch that sends the token to every origin', () => {
  beforeEach(() => void vi.stubGlobal('fetch', leakingFetch))
  afterEach(() => void vi.unstubAllGlobals())
  const respondWith = (status: number, location: () => string) => {
    servers.api.respond = ({ url }) =>
      url === '/end' ? json({}) : json({}, status, { location: location() })
  }

  it.each([301, 302, 303, 307, 308])('(%d) sends none to another origin', async (status) => {
    respondWith(status, () => servers.other.origin)
    servers.other.respond = () => json({ arrived: true })
    const api = clientOf({ adapter: 'fetch' })
    for (const method of ['get', 'post']) {
      const body = method === 'post' ? { data: { a: 1 } } : {}
      const { data, config } = await api.request({ method, url: '/from', params: { id: 1 }, ...body })
      expect([data, config.url]).toStrictEqual([{ arrived: true }, '/from'])
    }
    expect(servers.other.tokens).toStrictEqual([undefined, undefined])
    expect(servers.other.requests.map(({ method }) => method)).toStrictEqual([
      'GET',
      status < 304 ? 'GET' : 'POST',
    ])
  })

  it('keeps the rules of fetch within the origin', async () => {
    respondWith(307, () => '/end')
    const api = clientOf({ adapter: 'fetch' })
    const { request, config } = await api.put('/from?id=1', { a: 1 }, { params: { b: 2 } })
    expect([request.url, config.url]).toStrictEqual([`${servers.api.origin}/end`, '/from?id=1'])
    expect(servers.api.requests.map(({ method, url, body }) => `${method} ${url} ${body}`)).toStrictEqual([
      'PUT /from?id=1&b=2 {"a":1}',
      'PUT /end {"a":1}',
    ])
    expect(new Set(servers.api.tokens)).toStrictEqual(new Set(servers.endpoint.issued))
  })

  it('fails as axios does for a stream, a scheme that cannot be requested, and a loop', async () => {
    respondWith(307, () => '/from')
    const api = clientOf({ adapter: 'fetch' })
    const failure = { code: 'ERR_NETWORK', message: 'Network Error', config: { url: '/from' } }
    await expect(api.get('/from')).rejects.toMatchObject(failure)
    expect(servers.api.requests.splice(0)).toHaveLength(21)
    await expect(api.post('/from', new Blob(['tea']).stream())).rejects.toMatchObject(failure)
    respondWith(302, () => 'data:,tea')
    await expect(api.get('/from')).rejects.toMatchObject(failure)
    expect(servers.api.requests).toHaveLength(2)
  })

  it.each([{ maxRedirects: 0 }, { fetchOptions: { redirect: 'manual' } }])(
    'is left to %j',
    async (options) => {
      respondWith(302, () => '/end')
      expect((await clientOf({ adapter: 'fetch' }).get('/from', options)).status).toBe(302)
      expect(servers.api.requests).toHaveLength(1)
    },
  )
})

describe.each(['http', 'fetch'])('an Authorization header over %s', (adapter) => {
  it.each([
    ['in the defaults', { headers: { Authorization: 'Bearer old' } }],
    ['from auth', { auth: { username: 'me', password: 'mine' } }],
  ])('%s is kept, reported and explained', async (_where, config) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    vi.stubEnv('NODE_ENV', 'development')
    const events: string[] = []
    servers.tokens.subscribe(({ type }) => events.push(type))
    servers.api.respond = () => json({}, 401)
    const api = clientOf({ adapter, ...config })
    for (const url of ['/a', '/b']) expect((await api.get(url)).status).toBe(401)
    expect(events).toStrictEqual(['token_skipped', 'token_skipped'])
    expect(warn).toHaveBeenCalledOnce()
    expect(warn.mock.calls[0]).toStrictEqual([expect.stringContaining('a header Authorization already')])
    expect(servers.endpoint.requests).toHaveLength(0)
    vi.unstubAllEnvs()
    warn.mockRestore()
  })
})

describe('over http, to a subdomain', () => {
  const port = () => new URL(servers.api.origin).port
  beforeEach(() => {
    servers.api.respond = ({ headers, url }) =>
      url === '/'
        ? json({}, 307, { location: `http://files.api.test:${port()}/file` })
        : json({ authorization: headers['authorization'] ?? null, host: headers['host'] })
  })

  it('removes the token, and keeps what beforeRedirect does', async () => {
    const seen: unknown[] = []
    const api = create({
      baseURL: `http://api.test:${port()}`,
      lookup: (_host: string, _options: object, done: Function) => done(null, '127.0.0.1', 4),
      beforeRedirect: ({ href }) => void seen.push(href),
    } as CreateAxiosDefaults)
    attachTokens(api, servers.tokens, { allowedOrigins: [() => true], allowInsecureRequests: true })
    const { data } = await api.get('/')
    expect(data).toStrictEqual({ authorization: null, host: `files.api.test:${port()}` })
    expect(seen).toStrictEqual([`http://files.api.test:${port()}/file`])
  })
})

describe('an interceptor that was registered earlier', () => {
  it.each([
    ['transformRequest', () => ({ transformRequest: [(data: unknown) => data] })],
    ['adapter', () => ({ adapter: 'http' as const })],
  ])('may replace %s', async (_name, change) => {
    const api = create({ baseURL: servers.api.origin })
    api.interceptors.request.use((config) => Object.assign(config, change()))
    attachTokens(api, servers.tokens)
    await api.post('/orders', 'tea')
    expect(servers.api.tokens).toStrictEqual(servers.endpoint.issued)
  })

  it('may call the adapter that it replaces', async () => {
    servers.api.rejects = (token) => token === servers.endpoint.issued[0]
    const api = create({ baseURL: servers.api.origin, adapter: 'http' })
    api.interceptors.request.use((config) => {
      const { adapter } = config
      config.adapter = (request) => getAdapter(adapter, request)(request)
      return config
    })
    attachTokens(api, servers.tokens)
    await api.get('/orders')
    expect(servers.api.tokens).toStrictEqual(servers.endpoint.issued)
    expect(servers.endpoint.issued).toHaveLength(2)
  })
})
