import { attachTokens } from '@tokenwell/axios-interceptor'
import { clientCredentials, type TokenBinding } from '@tokenwell/core'
import { json, noResponse } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import axios, {
  Axios,
  create,
  isAxiosError,
  isCancel,
  type AxiosAdapter,
  type AxiosError,
  type AxiosInstance,
} from 'axios'
import { Agent } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

// oxlint-disable-next-line import/no-named-as-default-member -- axios's types do not name this export
const { CancelToken } = axios
const servers = useTestServers()
let api: AxiosInstance
beforeEach(() => {
  api = create({ baseURL: servers.api.origin })
  attachTokens(api, servers.tokens)
})
afterEach(() => void vi.unstubAllGlobals())
const rejectFirst = () => {
  servers.api.rejects = (token) => token === servers.endpoint.issued[0]
}
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error as AxiosError,
  )

it('proves possession of a key for the whole URL of a request to a path', async () => {
  const prove = vi.fn(async () => ({ dpop: 'proof' }))
  const binding: TokenBinding = {
    tokenType: 'DPoP',
    checkShareable() {},
    fingerprint: () => 'key',
    send: (_url, send) => send({}),
    prove,
    receive: () => false,
  }
  servers.endpoint.respond = async () => json({ access_token: 'bound', token_type: 'DPoP', expires_in: 60 })
  const tokenEndpoint = `${servers.endpoint.origin}/token`
  const bound = create({ baseURL: `${servers.api.origin}/v1` })
  attachTokens(
    bound,
    clientCredentials({ tokenEndpoint, clientId: 'client', clientSecret: 'secret', binding }),
  )
  await failureOf(bound.get('/orders'))
  expect(prove).toHaveBeenCalledWith(
    expect.objectContaining({ url: new URL(`${servers.api.origin}/v1/orders`) }),
  )
})

describe('a request with a timeout', () => {
  it('follows redirects', async () => {
    const { respond } = servers.api
    servers.api.respond = async (request) =>
      request.url === '/moved' ? { status: 302, headers: { location: '/here' } } : respond(request)
    const { status, request } = await api.get('/moved', { timeout: 10_000 })
    expect([status, request.path]).toEqual([200, '/here'])
  })

  it('may come from an instance without defaults', async () => {
    servers.endpoint.respond = async () => noResponse
    const bare = new Axios({ baseURL: servers.api.origin, timeout: 50 })
    attachTokens(bare as AxiosInstance, servers.tokens)
    const { code, cause } = await failureOf(bare.get('/'))
    expect(code).toBe('ECONNABORTED')
    expect(cause).toMatchObject({ name: 'TimeoutError', message: 'The timeout was exceeded' })
  })
})

describe('a response', () => {
  it('shows no token if the adapter returns a copy of its configuration', async () => {
    const adapter: AxiosAdapter = (config) =>
      Promise.resolve({ data: '', status: 200, statusText: '', headers: {}, config: { ...config } })
    const { config } = await api.get('/', { adapter })
    expect(JSON.stringify(config)).not.toContain((await servers.tokens.getToken()).value)
  })

  it.each([{ validateStatus: null }, {}])('with status 400 may reject the token: %j', async (config) => {
    rejectFirst()
    const { respond } = servers.api
    servers.api.respond = async (request) => {
      const response = await respond(request)
      if (response === 'drop' || response.status !== 401) return response
      return json({ fault: { faultstring: 'Invalid Access Token' } }, 400)
    }
    expect((await api.get('/', config)).status).toBe(200)
  })
})

describe('a request that is sent again', () => {
  beforeEach(rejectFirst)

  it('runs interceptors and transforms once', async () => {
    const passed: string[] = []
    const instance = create({
      baseURL: servers.api.origin,
      transformRequest: (data) => passed.push('transformRequest') && JSON.stringify(data),
      transformResponse: (data: string) => passed.push('transformResponse') && JSON.parse(data),
    })
    const note = <Value>(what: string) =>
      ((value: Value) => passed.push(what) && value) as (value: Value) => Value
    instance.interceptors.request.use(note('registered before'))
    attachTokens(instance, servers.tokens)
    instance.interceptors.request.use(note('registered after'))
    instance.interceptors.response.use(note('response'))
    const { data } = await instance.post('/', { a: 'ü' })
    expect(data).toStrictEqual({ accepted: true })
    expect(passed).toStrictEqual([
      'registered after',
      'registered before',
      'transformRequest',
      'transformResponse',
      'response',
    ])
    expect(servers.api.requests.map(({ body }) => body)).toStrictEqual(Array(2).fill('{"a":"Ã¼"}'))
  })

  it('is sent again if every status counts as a success', async () => {
    const { status } = await api.post('/', { a: 1 }, { validateStatus: null })
    expect(status).toBe(200)
    expect(servers.api.requests).toHaveLength(2)
  })

  it('releases the connection of the first response if it is a stream', async () => {
    const httpAgent = new Agent({ keepAlive: true, maxSockets: 1 })
    const { data } = await api.get('/', { responseType: 'stream', httpAgent })
    expect(JSON.parse(Buffer.concat(await data.toArray()).toString())).toStrictEqual({ accepted: true })
    httpAgent.destroy()
  })

  it.each([undefined, null, '', {}])('is sent again if the body of the response is %j', async (data) => {
    const statuses = [401, 200]
    const headers = { 'content-type': 'application/json' }
    const adapter: AxiosAdapter = async (config) => {
      return { data, status: statuses.shift()!, statusText: '', headers, config }
    }
    expect((await api.get('/', { adapter, validateStatus: null })).status).toBe(200)
    expect(servers.endpoint.issued).toHaveLength(2)
  })

  it('is sent again by an adapter that removes itself, as axios-mock-adapter does', async () => {
    const statuses = [401, 200]
    const adapter: AxiosAdapter = async (config) => {
      delete config.adapter
      return { data: '', status: statuses.shift()!, statusText: '', headers: {}, config }
    }
    expect((await api.get('/', { adapter, validateStatus: null })).status).toBe(200)
    expect(servers.api.requests).toHaveLength(0)
    expect(servers.endpoint.issued).toHaveLength(2)
  })

  it('is sent again if the response has a path as its URL and no headers, as in axios-mock-adapter', async () => {
    const statuses = [401, 200]
    const adapter: AxiosAdapter = async (config) => {
      const request = { responseURL: config.url }
      const headers = undefined as never
      return { data: '', status: statuses.shift()!, statusText: '', headers, config, request }
    }
    expect((await api.get('/path', { adapter, validateStatus: null })).status).toBe(200)
  })

  it.each(['json', 'arraybuffer'] as const)(
    'is sent again if there is no class Response, as with jsdom in Jest: %s',
    async (responseType) => {
      vi.stubGlobal('Response', undefined)
      const respond = servers.api.respond
      servers.api.respond = async (request) => {
        const response = await respond(request)
        return response === 'drop' || response.status !== 401 ? response : json({ error: 'expired' }, 401)
      }
      expect((await api.get('/', { responseType, adapter: 'http' })).status).toBe(200)
    },
  )

  it('is recognised by a fault in a text if there is no class Response', async () => {
    vi.stubGlobal('Response', undefined)
    servers.api.respond = () => json({ fault: { detail: { errorcode: 'oauth.v2.InvalidAccessToken' } } }, 500)
    await failureOf(api.get('/', { responseType: 'text', adapter: 'http' }))
    expect(servers.endpoint.issued).toHaveLength(2)
  })

  it('is not a form that axios created from an object, which is a stream', async () => {
    expect((await failureOf(api.postForm('/', { a: [1, 2] }))).status).toBe(401)
    expect(servers.api.requests).toHaveLength(1)
  })

  it.each(['json', 'text', 'arraybuffer', 'blob'] as const)(
    'is recognised by a fault in a body of type %s',
    async (responseType) => {
      const fault = { fault: { detail: { errorcode: 'oauth.v2.InvalidAccessToken' } } }
      servers.api.respond = () => json(fault, 500)
      const adapter = responseType === 'blob' ? 'fetch' : 'http'
      await failureOf(api.get('/', { responseType, adapter }))
      expect(servers.endpoint.issued).toHaveLength(2)
    },
  )

  it('is not recognised after the first 16 KiB of a body', async () => {
    const fault = { detail: { errorcode: 'oauth.v2.InvalidAccessToken' } }
    servers.api.respond = () => json({ padding: 'x'.repeat(16 * 1024), fault }, 500)
    await failureOf(api.get('/'))
    expect(servers.endpoint.issued).toHaveLength(1)
  })

  it('can be sent again with the configuration of an error', async () => {
    servers.api.respond = ({ url }) => json({}, url === '/first' ? 503 : 200)
    const error = await failureOf(api.post('/first', { a: 1 }, { timeout: 5_000 }))
    expect(error.config).toMatchObject({ url: '/first', timeout: 5_000, data: '{"a":1}' })
    const { status } = await api.request({ ...error.config, url: '/second' })
    expect(status).toBe(200)
    const [first, second] = servers.api.requests
    expect(second).toStrictEqual({ ...first, url: '/second' })
  })
})

describe('the instance', () => {
  it('attaches tokens with any adapter of a request', async () => {
    await api.get('/', { adapter: 'fetch' })
    await api.get('/', { adapter: ['http'] })
    await api.get('/', {
      adapter: async (config) => {
        expect(config.headers.get('authorization')).toBe(`Bearer ${servers.endpoint.issued[0]}`)
        return { data: '', status: 200, statusText: '', headers: {}, config }
      },
    })
    expect(servers.api.tokens).toStrictEqual(Array(2).fill(servers.endpoint.issued[0]))
  })

  it('is restored when tokens are detached', async () => {
    const instance = create({ baseURL: servers.api.origin })
    const detach = attachTokens(instance, servers.tokens)
    await instance.get('/')
    detach()
    expect((await failureOf(instance.get('/'))).status).toBe(401)
    expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0], undefined])
  })

  it('does not share its tokens with instances created from it', async () => {
    await failureOf(api.create({}).get('/'))
    expect(servers.api.tokens).toStrictEqual([undefined])
  })

  it('accepts two providers for different origins', async () => {
    attachTokens(api, servers.tokens, { allowedOrigins: [servers.other.origin], scheme: 'Bearer' })
    await Promise.all([api.get('/'), api.get(servers.other.origin)])
    expect([...servers.api.tokens, ...servers.other.tokens]).toStrictEqual(
      Array(2).fill(servers.endpoint.issued[0]),
    )
  })

  it("does not change the caller's configuration and headers", async () => {
    const headers = Object.freeze({ 'X-Mine': '1' })
    const config = Object.freeze({ url: '/', headers, sensitiveHeaders: ['X-Mine'] })
    await api.request(config)
    await api.request(config)
    expect(Object.keys(api.defaults.headers.common)).not.toContain('Authorization')
    expect(servers.api.requests.map(({ headers }) => headers['x-mine'])).toStrictEqual(['1', '1'])
  })

  it('sets a header without a value, but not one that is false', async () => {
    await api.get('/', { headers: { authorization: undefined } })
    await failureOf(api.get('/', { headers: { authorization: false } }))
    expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0], undefined])
  })

  it('replaces a header in any case with replaceHeader', async () => {
    const replacing = create({ baseURL: servers.api.origin, adapter: 'fetch' })
    attachTokens(replacing, servers.tokens, { replaceHeader: true })
    await replacing.get('/', { headers: { authorization: 'Bearer mine' } })
    expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0]])
  })

  it('does not reuse a token from a headers object that requests share', async () => {
    const { headers } = (await api.get('/')).config
    api.interceptors.request.use((config) => Object.assign(config, { headers }))
    await Promise.all([api.get('/'), failureOf(api.get(servers.other.origin)), api.get('/')])
    expect(servers.other.tokens).toStrictEqual([undefined])
    expect(servers.api.tokens).toStrictEqual(Array(3).fill(servers.endpoint.issued[0]))
  })

  it('attaches no token to requests with other credentials', async () => {
    const auth = { username: 'me', password: 'mine' }
    await failureOf(api.get('/', { auth }))
    await failureOf(api.get(servers.api.origin.replace('//', '//me:mine@')))
    const basic = `Basic ${Buffer.from('me:mine').toString('base64')}`
    expect(servers.api.requests.map(({ headers }) => headers.authorization)).toStrictEqual([basic, basic])
    expect(servers.endpoint.requests).toHaveLength(0)
  })

  it('attaches a token to a request whose path contains the credentials of another URL', async () => {
    await api.get(`${servers.api.origin}/proxy/https://me:mine@example.com/`)
    expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0]])
  })
})

describe('a request that waits for a token', () => {
  beforeEach(() => {
    servers.endpoint.respond = () => noResponse
  })

  it('fails when its cancel token is cancelled', async () => {
    let cancel = (_reason: string): void => {}
    const cancelToken = new CancelToken((canceler) => {
      cancel = canceler
    })
    const failure = failureOf(api.get('/', { cancelToken }))
    await servers.endpoint.nextRequest()
    cancel('No longer needed')
    expect(isCancel(await failure)).toBe(true)
    expect(await failure).toMatchObject({ message: 'No longer needed' })
  })

  it('fails at once if it was cancelled before', async () => {
    expect(isCancel(await failureOf(api.get('/', { signal: AbortSignal.abort() })))).toBe(true)
    expect(servers.endpoint.requests).toHaveLength(0)
  })

  it('fails with its timeout and the configured message', async () => {
    const config = {
      timeout: 20,
      timeoutErrorMessage: 'Too slow',
      transitional: { clarifyTimeoutError: true },
    }
    expect(await failureOf(api.get('/', config))).toMatchObject({ message: 'Too slow', code: 'ETIMEDOUT' })
    expect(await failureOf(api.get('/', { timeout: 20 }))).toMatchObject({
      message: 'timeout of 20ms exceeded',
      code: 'ECONNABORTED',
      config: { timeout: 20, url: '/' },
    })
  })
})

it('has one timeout for the token and the response', async () => {
  const issue = servers.endpoint.respond
  servers.endpoint.respond = async (request) => {
    await setTimeout(50)
    return issue(request)
  }
  const times: (number | undefined)[] = []
  const adapter: AxiosAdapter = async (config) => {
    times.push(config.timeout)
    return { data: '', status: times.length === 1 ? 401 : 200, statusText: '', headers: {}, config }
  }
  const { config } = await api.get('/', { adapter, timeout: 60_000 })
  expect(times[0]).toBeLessThanOrEqual(60_000 - 40)
  expect(times[1]).toBeLessThanOrEqual(60_000 - 80)
  expect(config.timeout).toBe(60_000)
})

it('fails with an AxiosError whose cause is the TokenError if no token can be acquired', async () => {
  servers.endpoint.respond = () => json({ error: 'invalid_client' }, 401)
  const error = await failureOf(api.post('/', { a: 1 }))
  expect(isAxiosError(error)).toBe(true)
  expect(error).toMatchObject({ code: 'ERR_TOKEN', config: { url: '/' }, message: error.cause?.message })
  // The status of the token endpoint is not that of the API.
  expect([error.status, error.response, error.request]).toStrictEqual([undefined, undefined, undefined])
  expect(Object.keys(error)).not.toContain('cause')
})
