import { tokenHooks } from '@tokenwell/ky-hook'
import { expectNoSecrets, json, noResponse, useTestServers } from '@tokenwell/test-suite'
import ky, { HTTPError, TimeoutError, type Hooks, type KyInstance, type Options } from 'ky'
import { beforeEach, describe, expect, it } from 'vitest'

const servers = useTestServers()
let api: KyInstance
const attached = (options: Options = {}) =>
  ky
    .create({ prefix: servers.api.origin, retry: { statusCodes: [503], delay: () => 0 }, ...options })
    .extend(tokenHooks(servers.tokens, { allowedOrigins: [servers.api.origin] }))
beforeEach(() => {
  api = attached()
})
const rejectFirst = () => {
  servers.api.rejects = (token) => token === servers.endpoint.issued[0]
}
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )

describe('a refused token', () => {
  beforeEach(rejectFirst)

  it.each(['get', 'post', 'put', 'patch', 'delete'] as const)(
    'is renewed for %s, whatever ky itself would retry',
    async (method) => {
      const body = method === 'get' ? {} : { json: { a: 1 } }
      expect(await api(method, { method, ...body }).json()).toStrictEqual({ accepted: true })
      expect(servers.api.requests).toHaveLength(2)
    },
  )

  it.each([0, { limit: 0 }])(
    'is not renewed on the spot where ky is told retry: %j, and fails as an HTTPError',
    async (retry) => {
      const error = await failureOf(api.post('x', { retry, json: {} }))
      expect(error).toBeInstanceOf(HTTPError)
      expect(error).toMatchObject({ response: { status: 401 }, data: { rejected: 1 } })
      expect(servers.api.requests).toHaveLength(1)
      expect((await api.get('x', { retry })).status).toBe(200)
    },
  )

  it.each([0, { limit: 0 }])(
    'is replaced for a request without a body, also with retry: %j',
    async (retry) => {
      expect((await api.get('x', { retry })).status).toBe(200)
      expect(servers.api.requests).toHaveLength(2)
      servers.api.rejects = (token) => token === servers.endpoint.issued[1]
      expect((await api.delete('x', { retry })).status).toBe(200)
      expect(servers.api.requests).toHaveLength(4)
    },
  )

  it('fails as an HTTPError where every token is refused', async () => {
    servers.api.rejects = () => true
    const error = await failureOf(api.get('x'))
    expect(error).toBeInstanceOf(HTTPError)
    expect(error).toMatchObject({ response: { status: 401 }, data: { rejected: 2 } })
  })

  it('is renewed for a request object that has no body, and not for one that has', async () => {
    expect((await api(new Request(`${servers.api.origin}/x`))).status).toBe(200)
    servers.api.rejects = (token) => token === servers.endpoint.issued[1]
    const request = new Request(`${servers.api.origin}/x`, { method: 'POST', body: 'once' })
    expect(await failureOf(api(request))).toBeInstanceOf(HTTPError)
  })

  it('is not seen where ky is told to throw nothing, if a new one helps', async () => {
    expect((await api.get('x', { throwHttpErrors: false })).status).toBe(200)
  })

  it('has an upload sent whole again, progress and all', async () => {
    const progress: number[] = []
    const onUploadProgress = ({ transferredBytes }: { transferredBytes: number }) =>
      void progress.push(transferredBytes)
    await api.post('x', { body: 'y'.repeat(100_000), onUploadProgress })
    expect(servers.api.requests.map(({ body }) => body.length)).toStrictEqual([100_000, 100_000])
    expect(Math.max(...progress)).toBe(100_000)
  })

  it('has a body that a hook put in sent again, not the one it replaced', async () => {
    const hook: Hooks['beforeRequest'] = [
      ({ request }) => new Request(request, { method: 'POST', body: 'sealed' }),
    ]
    await api.post('x', { body: 'open', hooks: { beforeRequest: hook } })
    expect(servers.api.requests.map(({ body }) => body)).toStrictEqual(['sealed', 'sealed'])
  })
})

describe('hooks', () => {
  it('run once for a request that is sent again, and see no token', async () => {
    rejectFirst()
    const seen: unknown[] = []
    const hooks: Hooks = {
      beforeRequest: [
        ({ request }) => void seen.push(['beforeRequest', request.headers.get('authorization')]),
      ],
      afterResponse: [
        ({ request, response }) =>
          void seen.push(['afterResponse', request.headers.get('authorization'), response.status]),
      ],
    }
    await api.get('x', { hooks })
    expect(seen).toStrictEqual([
      ['beforeRequest', null],
      ['afterResponse', null, 200],
    ])
  })

  it('may send a request elsewhere: the token does not go along', async () => {
    const elsewhere: Hooks['beforeRequest'] = [({ request }) => new Request(servers.other.origin, request)]
    await failureOf(api.get('x', { hooks: { beforeRequest: elsewhere } }).json())
    await failureOf(
      api.get('x', { hooks: { init: [(options) => void (options.prefix = servers.other.origin)] } }).json(),
    )
    expect(servers.other.tokens).toStrictEqual([undefined, undefined])
    expect(servers.endpoint.requests).toHaveLength(0)
  })

  it('may answer in the API’s place, without a token', async () => {
    const response = await api.get('x', { hooks: { beforeRequest: [() => new Response('mine')] } })
    expect(await response.text()).toBe('mine')
    expect(servers.endpoint.requests).toHaveLength(0)
  })

  it('may set a header of their own', async () => {
    const beforeRequest: Hooks['beforeRequest'] = [
      ({ request }) => request.headers.set('Authorization', 'Bearer mine'),
    ]
    await api.get('x', { hooks: { beforeRequest } })
    expect(servers.api.tokens).toStrictEqual(['mine'])
  })
})

describe('a client', () => {
  it('has each retry of ky’s own sent with the token of that moment', async () => {
    const statuses = [503, 503, 200]
    servers.api.respond = () => {
      servers.tokens.reject(servers.tokens.peekToken()!)
      return json({}, statuses.shift())
    }
    await api.get('x')
    expect(servers.endpoint.issued).toHaveLength(3)
    expect(servers.api.tokens).toStrictEqual([...servers.endpoint.issued])
  })

  it('opts out as a whole, and one of its requests back in', async () => {
    const without = api.extend({ context: { token: false } })
    expect(await failureOf(without.get('x').json())).toBeInstanceOf(HTTPError)
    expect((await without.get('x', { context: { token: undefined } })).status).toBe(200)
  })

  it('keeps a fetch of its own, and the options for it', async () => {
    const seen: unknown[] = []
    const own: Options['fetch'] = (input, init) => {
      const { agent } = init as { agent?: string }
      seen.push([agent, new Headers(init?.headers).get('authorization')])
      return fetch(input, init)
    }
    const options = { fetch: own, agent: 'of its own' } as Options
    await attached(options).get('x')
    await api.extend(options).get('x')
    expect(seen).toHaveLength(2)
    expect(seen).toStrictEqual(seen.map(() => ['of its own', `Bearer ${servers.endpoint.issued[0]}`]))
  })

  it('looks the global fetch up at each request', async () => {
    const original = globalThis.fetch
    try {
      globalThis.fetch = async (input, init) =>
        new URL(new Request(input).url).origin === servers.api.origin
          ? new Response('replaced')
          : original(input, init)
      expect(await api.get('x').text()).toBe('replaced')
    } finally {
      globalThis.fetch = original
    }
  })

  it('takes two providers, each for its own origin', async () => {
    const both = api.extend(tokenHooks(servers.tokens, { allowedOrigins: [servers.other.origin] }))
    await Promise.all([both.get('x'), both.get('x', { prefix: servers.other.origin })])
    expect([...servers.api.tokens, ...servers.other.tokens]).toStrictEqual(
      Array(2).fill(servers.endpoint.issued[0]),
    )
  })

  it('resolves addresses by baseUrl', async () => {
    const relative = ky.create({ baseUrl: `${servers.api.origin}/v1/` })
    await relative.extend(tokenHooks(servers.tokens, { allowedOrigins: [servers.api.origin] })).get('orders')
    expect(servers.api.requests[0]?.url).toBe('/v1/orders')
    expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0]])
  })
})

it.each([{ timeout: 30 }, { timeout: false, totalTimeout: 30 }] as const)(
  'has the wait for a token counted in %j',
  async (times) => {
    servers.endpoint.respond = () => noResponse
    expect(await failureOf(api.get('x', times))).toBeInstanceOf(TimeoutError)
    expect(servers.api.requests).toHaveLength(0)
  },
)

it('hands what goes wrong with a token to beforeError, and shows none of it', async () => {
  await api.get('x')
  servers.api.respond = () => json({ error: 'no' }, 400)
  const seen: unknown[] = []
  const error = await failureOf(
    api.get('x', { hooks: { beforeError: [(state) => (seen.push(state), state.error)] } }),
  )
  expectNoSecrets([error, seen], servers.endpoint.issued)
  expect(seen).toHaveLength(1)
})
