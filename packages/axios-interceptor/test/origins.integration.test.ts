import { attachTokens } from '@tokenwell/axios-interceptor'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { create, type AxiosAdapter, type AxiosInstance, type CreateAxiosDefaults } from 'axios'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const servers = useTestServers()
let api: AxiosInstance
beforeEach(() => {
  api = create({ baseURL: `${servers.api.origin}/v1/`, validateStatus: null })
  attachTokens(api, servers.tokens)
})

describe('a function as an allowed origin', () => {
  it.each([
    [{}, '/v1/'],
    [{ url: '' }, '/v1/'],
    [{ url: 'orders?id=1' }, '/v1/orders?id=1'],
    [{ url: '/orders', baseURL: '' }, undefined],
  ])('checks the whole URL of %j', async (config, path) => {
    const seen: string[] = []
    const checked = create({ baseURL: `${servers.api.origin}/v1/`, validateStatus: null })
    const allows = (url: URL) => seen.push(url.href) > 0
    attachTokens(checked, servers.tokens, { allowedOrigins: [allows] })
    await checked.request(config).catch(() => {})
    expect(seen).toStrictEqual(path === undefined ? [] : [servers.api.origin + path])
    expect(servers.api.requests.map(({ url }) => url)).toStrictEqual(path === undefined ? [] : [path])
  })
})

describe('without allowed origins', () => {
  it('sends tokens to the origin of the base URL, for any path', async () => {
    const urls = ['orders', '/orders', '', `${servers.api.origin}/v2`, `${servers.api.origin}/@me`]
    for (const url of urls) await api.get(url)
    expect(servers.api.tokens).toStrictEqual(Array(urls.length).fill(servers.endpoint.issued[0]))
  })

  it('sends no token to the base URL of a request at another origin', async () => {
    await api.get('/', { baseURL: servers.other.origin })
    await api.get(servers.other.origin.replace('http:', ''), { baseURL: '' }).catch(() => {})
    expect(servers.other.tokens).toStrictEqual([undefined])
    expect(servers.endpoint.requests).toHaveLength(0)
  })

  it('keeps the base URL from when tokens were attached', async () => {
    api.defaults.baseURL = servers.other.origin
    await api.get('/')
    expect(servers.other.tokens).toStrictEqual([undefined])
  })

  it('checks the URL that interceptors set', async () => {
    api.interceptors.request.use((config) => Object.assign(config, { url: `${servers.other.origin}/x` }))
    await api.get('/')
    const before = create({ baseURL: servers.api.origin, validateStatus: null })
    before.interceptors.request.use((config) => Object.assign(config, { baseURL: servers.other.origin }))
    attachTokens(before, servers.tokens)
    await before.get('/')
    expect(servers.other.tokens).toStrictEqual([undefined, undefined])
  })

  it('uses no base URL that an interceptor removed', async () => {
    const seen: boolean[] = []
    api.interceptors.request.use(({ baseURL: _gone, ...config }) => config)
    const adapter: AxiosAdapter = async (config) => {
      seen.push(config.headers.has('authorization'))
      return { data: '', status: 200, statusText: '', headers: {}, config }
    }
    await api.get('/of-the-adapter', { adapter })
    expect(seen).toStrictEqual([false])
  })

  it('treats an absolute URL as a path where axios does', async () => {
    await api.get(servers.other.origin, { allowAbsoluteUrls: false })
    expect(servers.api.requests[0]?.url).toBe(`/v1/${servers.other.origin}`)
    expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0]])
  })

  it('throws for an instance without a base URL', () => {
    expect(() => attachTokens(create(), servers.tokens)).toThrow(
      'allowedOrigins is missing, and baseURL is missing too. Set an absolute baseURL, or allowedOrigins.',
    )
  })

  it.each([undefined, '', '/api', 'not a URL'])('throws for an instance with the base URL %j', (baseURL) => {
    expect(() => attachTokens(create({ baseURL: baseURL! }), servers.tokens)).toThrowError(
      expect.objectContaining({ kind: 'configuration', message: expect.stringContaining('allowedOrigins') }),
    )
  })
})

it('passes the whole URL to an allowed origin that is a function', async () => {
  servers.api.respond = () => json({})
  const instance = create({ baseURL: servers.api.origin })
  const seen: string[] = []
  const allows = ({ pathname }: URL): boolean => {
    seen.push(pathname)
    return pathname.startsWith('/v1/')
  }
  attachTokens(instance, servers.tokens, { allowedOrigins: ['https://example.com', allows] })
  await instance.get('/v2/orders')
  await instance.get('v1/orders')
  expect(seen).toStrictEqual(['/v2/orders', '/v1/orders'])
  expect(servers.api.tokens).toStrictEqual([undefined, servers.endpoint.issued[0]])
})

describe('a redirect', () => {
  it('carries neither the token nor sensitive headers of the caller to a subdomain', async () => {
    servers.api.respond = () => ({ status: 302, headers: { location: servers.other.origin } })
    await api.get('/', { headers: { 'X-Mine': '1' }, sensitiveHeaders: ['X-Mine'] })
    expect(servers.other.tokens).toStrictEqual([undefined])
    expect(servers.other.requests[0]?.headers).not.toHaveProperty('x-mine')
  })

  it("calls the caller's beforeRedirect", async () => {
    servers.api.respond = ({ url }) =>
      url === '/v1/from' ? { status: 302, headers: { location: '/to' } } : json({ arrived: true })
    const seen: unknown[] = []
    await api.get('from', { beforeRedirect: ({ path }) => void seen.push(path) })
    expect(seen).toStrictEqual(['/to'])
  })
})

describe('in a page', () => {
  beforeEach(() => void vi.stubGlobal('document', { baseURI: 'https://page.example.com/app/' }))
  afterEach(() => void vi.unstubAllGlobals())

  it.each([
    ['orders', true],
    ['/orders', true],
    ['https://page.example.com/orders', true],
    ['//other.example.com/orders', false],
    ['/\\other.example.com/orders', false],
    ['\\\\other.example.com/orders', false],
    ['https://other.example.com/orders', false],
  ])('sends tokens to its own origin only: to %s it is %j', async (url, expected) => {
    const page = create({ baseURL: '/' })
    attachTokens(page, servers.tokens)
    const adapter: AxiosAdapter = async (config) => {
      return { data: config.headers.has('authorization'), status: 200, statusText: '', headers: {}, config }
    }
    expect((await page.get(url, { adapter })).data).toBe(expected)
  })

  it('fails on a redirect with a custom header, which browsers would send along', async () => {
    vi.stubGlobal('XMLHttpRequest', function XMLHttpRequest() {})
    servers.api.respond = () => ({ status: 302, headers: { location: servers.other.origin } })
    const seen: (RequestInit | undefined)[] = []
    const recordingFetch: typeof fetch = (input, init) => {
      seen.push(init)
      return fetch(input, init)
    }
    const page = create({ baseURL: servers.api.origin, env: { fetch: recordingFetch } })
    attachTokens(page, servers.tokens, { header: 'X-Api-Token' })
    const fetchOptions = { keepalive: true }
    const error: unknown = await page.get('/', { fetchOptions }).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'ERR_NETWORK', config: { fetchOptions } })
    expect(seen).toEqual([expect.objectContaining({ redirect: 'error', keepalive: true })])
    expect(servers.api.requests).toHaveLength(1)
    expect(servers.other.requests).toHaveLength(0)
  })
})

it.each<[how: string, config: CreateAxiosDefaults]>([
  ['an error', {}],
  ['a response', { validateStatus: null }],
])('explains a 401 of an origin that gets no token, once: as %s', async (_how, config) => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  vi.stubEnv('NODE_ENV', 'development')
  servers.other.respond = () => json({}, 401)
  const strict = create(config)
  attachTokens(strict, servers.tokens, { allowedOrigins: [servers.api.origin] })
  for (const path of ['/a', '/b']) {
    const received: unknown = await strict.get(servers.other.origin + path).catch((error: unknown) => error)
    expect(received).toMatchObject({ status: 401 })
  }
  expect(warn.mock.calls).toStrictEqual([
    [expect.stringContaining(`${servers.other.origin} responded with status 401`)],
  ])
  vi.unstubAllEnvs()
  warn.mockRestore()
})

it.each([undefined, null, 'closed'])('passes on what another adapter throws: %j', async (thrown) => {
  // As a program without types may.
  const adapter = vi.fn<AxiosAdapter>().mockRejectedValue(thrown)
  const strict = create({ adapter })
  attachTokens(strict, servers.tokens, { allowedOrigins: [servers.api.origin] })
  for (const { origin } of [servers.api, servers.other])
    expect(await strict.get(origin).catch((error: unknown) => [error])).toStrictEqual([thrown])
  expect(adapter).toHaveBeenCalledTimes(2)
})
