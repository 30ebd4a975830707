import { attachTokens } from '@tokenwell/axios-interceptor'
import { noResponse } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { Axios, create, type AxiosInstance, type InternalAxiosRequestConfig } from 'axios'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

const servers = useTestServers()
let api: AxiosInstance
beforeEach(() => {
  api = create({ baseURL: servers.api.origin })
  attachTokens(api, servers.tokens)
})

describe('the arguments of a request', () => {
  it('are read at the call, not when the token has arrived', async () => {
    const url = new URL('/pages?number=1', servers.api.origin)
    const first = api.get(url as never)
    url.searchParams.set('number', '2')
    const second = api.get(url as never)
    url.host = new URL(servers.other.origin).host
    await Promise.all([first, second])
    expect(servers.api.requests.map((request) => request.url)).toStrictEqual([
      '/pages?number=1',
      '/pages?number=2',
    ])
    expect(servers.other.requests).toHaveLength(0)
  })

  it('are read at the call: parameters', async () => {
    const params = new URLSearchParams({ page: '1' })
    const first = api.get('/', { params })
    params.set('page', '2')
    await Promise.all([first, api.get('/', { params })])
    expect(servers.api.requests.map(({ url }) => url)).toStrictEqual(['/?page=1', '/?page=2'])
  })

  it('are sent unchanged by an instance without transforms that has another interceptor', async () => {
    const bare = new Axios({ baseURL: servers.api.origin })
    bare.interceptors.request.use((config) => config)
    attachTokens(bare as AxiosInstance, servers.tokens)
    expect((await bare.post('/', 'text')).status).toBe(200)
    expect(servers.api.requests[0]?.body).toBe('text')
  })

  it('may contain a header as long as Authorization', async () => {
    expect((await api.get('/', { headers: { 'If-None-Match': '"1"' } })).status).toBe(200)
    expect(servers.api.tokens).toStrictEqual(servers.endpoint.issued)
  })

  it('reach the adapter with the token only, with replaceHeader', async () => {
    const replacing = create({ baseURL: servers.api.origin })
    attachTokens(replacing, servers.tokens, { replaceHeader: true })
    const adapter = async (config: InternalAxiosRequestConfig) => {
      const data = new Headers([...config.headers] as [string, string][]).get('authorization')
      return { data, status: 200, statusText: '', headers: {}, config }
    }
    const { data } = await replacing.get('/', { adapter, headers: { authorization: 'Bearer mine' } })
    expect(data).toBe(`Bearer ${servers.endpoint.issued[0]}`)
  })

  it('are serialised by axios: parameters that are a list', async () => {
    await api.get('/', { params: { page: [1, 2] } })
    expect(decodeURIComponent(servers.api.requests[0]!.url)).toBe('/?page[]=1&page[]=2')
  })

  it.each([
    ['a Buffer', () => Buffer.from('first')],
    ['a typed array', () => new Uint8Array(Buffer.from('first'))],
    ['a typed array, sent again', () => new Uint8Array(Buffer.from('first'))],
  ])('are read at the call: %s', async (name, create) => {
    const bytes = create()
    if (name.includes('again')) servers.api.rejects = (token) => token === servers.endpoint.issued[0]
    const sent = api.post('/', bytes)
    bytes.set(Buffer.from('other'))
    await sent
    expect(new Set(servers.api.requests.map(({ body }) => body))).toStrictEqual(new Set(['first']))
  })

  it('are read at the call: bytes, in a runtime without Buffer', async () => {
    await servers.tokens.getToken()
    vi.stubGlobal('Buffer', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    const bytes = new Uint8Array([1, 2])
    let data: unknown
    const adapter = async (config: InternalAxiosRequestConfig) => {
      data = config.data
      return { data: '', status: 200, statusText: '', headers: {}, config }
    }
    const sent = api.post('/', bytes, { adapter, transformRequest: [] })
    bytes[0] = 7
    await sent
    expect(data).toStrictEqual(new Uint8Array([1, 2]))
  })

  it('are read at the call: a form', async () => {
    const form = new FormData()
    form.set('name', 'first')
    const sent = api.post('/', form)
    form.set('name', 'other')
    await sent
    expect(servers.api.requests[0]!.body).toContain('first')
  })
})

describe('an instance without a base URL', () => {
  it('accepts a URL object', async () => {
    const plain = create()
    attachTokens(plain, servers.tokens, { allowedOrigins: [servers.api.origin] })
    expect((await plain.get(new URL(servers.api.origin) as never)).status).toBe(200)
  })
})

describe('a relative base URL', () => {
  it('is reported, because it has no origin', () => {
    expect(() => attachTokens(create({ baseURL: '/orders' }), servers.tokens)).toThrow(
      'allowedOrigins is missing, and baseURL "/orders" has no origin.',
    )
  })
})

describe('a timeout given as a string', () => {
  it('counts in milliseconds, as axios reads it', async () => {
    const config = { timeout: '600000' as never }
    const timeouts: unknown[] = []
    const adapter = async (request: InternalAxiosRequestConfig) => {
      timeouts.push(request.timeout)
      return { data: '', status: 200, statusText: '', headers: {}, config: request }
    }
    const response = await api.get('/', { ...config, adapter })
    expect(timeouts[0]).toBeGreaterThan(500_000)
    expect(response.config.timeout).toBe('600000')
    expect((await api.get('/', config)).status).toBe(200)
  })

  it('ends the wait for a token', async () => {
    servers.endpoint.respond = () => noResponse
    const failure = api.get('/', { timeout: '30' as never })
    await expect(failure).rejects.toMatchObject({ message: 'timeout of 30ms exceeded' })
  })

  it('is left to axios if it is not a number', async () => {
    await expect(api.get('/', { timeout: 'soon' as never })).rejects.toMatchObject({
      code: 'ERR_BAD_OPTION_VALUE',
    })
  })
})

describe('a request interceptor that sets an adapter', () => {
  const seen: unknown[] = []
  const adapter = async (config: InternalAxiosRequestConfig) => {
    seen.push(config.headers.get('Authorization'))
    return { data: '', status: seen.length === 1 ? 401 : 200, statusText: '', headers: {}, config }
  }
  beforeEach(() => void (seen.length = 0))

  it.each([
    ['before', 'by assignment', (config: InternalAxiosRequestConfig) => Object.assign(config, { adapter })],
    ['before', 'in a copy', (config: InternalAxiosRequestConfig) => ({ ...config, adapter })],
    ['before', 'later', async (config: InternalAxiosRequestConfig) => ({ ...config, adapter })],
    ['after', 'by assignment', (config: InternalAxiosRequestConfig) => Object.assign(config, { adapter })],
  ])('keeps the token: registered %s, %s', async (order, _how, interceptor) => {
    const instance = create({ baseURL: servers.api.origin })
    if (order === 'before') instance.interceptors.request.use(interceptor)
    attachTokens(instance, servers.tokens)
    if (order === 'after') instance.interceptors.request.use(interceptor)
    const { config } = await instance.post('/', { a: 1 })
    expect(seen).toStrictEqual(servers.endpoint.issued.map((token) => `Bearer ${token}`))
    expect(seen).toHaveLength(2)
    expect(config.adapter).toBe(adapter)
    expect([config.transformRequest].flat()).toHaveLength(1)
  })
})
