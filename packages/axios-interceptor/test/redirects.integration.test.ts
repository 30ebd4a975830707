import { attachTokens } from '@tokenwell/axios-interceptor'
import { json, useTestServers } from '@tokenwell/testing'
import { create, getAdapter, type CreateAxiosDefaults } from 'axios'
import { beforeEach, describe, expect, it } from 'vitest'

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
    ])
  })

  it('sends a GET again whose redirect leads to a 401', async () => {
    servers.api.rejects = (token) => token === servers.endpoint.issued[0]
    const { respond } = servers.api
    servers.api.respond = (request) =>
      request.url === '/old' ? json({}, 302, { location: '/new' }) : respond(request)
    expect((await clientOf({ adapter }).get('/old')).status).toBe(200)
    expect(servers.api.requests.map(({ url }) => url)).toStrictEqual(['/old', '/new', '/old', '/new'])
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
