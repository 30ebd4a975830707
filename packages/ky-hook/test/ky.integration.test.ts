import { tokenHooks } from '@tokenwell/ky-hook'
import { expectNoSecrets, json, noResponse } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { setTimeout } from 'node:timers/promises'
import ky, { HTTPError, TimeoutError, type Hooks, type KyInstance, type Options } from 'ky'
import { beforeEach, describe, expect, it, vi } from 'vitest'

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

describe('a rejected token', () => {
  beforeEach(rejectFirst)

  it.each(['get', 'post', 'put', 'patch', 'delete'] as const)(
    'is refreshed for %s, even if ky itself would not retry',
    async (method) => {
      const body = method === 'get' ? {} : { json: { a: 1 } }
      expect(await api(method, { method, ...body }).json()).toStrictEqual({ accepted: true })
      expect(servers.api.requests).toHaveLength(2)
    },
  )

  it.each([301, 307])(
    'follows a redirect of a request with a body with retry: 0, after a %i',
    async (status) => {
      const { respond } = servers.api
      servers.api.rejects = () => false
      servers.api.respond = (request) =>
        request.url === '/x' ? { status, headers: { location: '/y' } } : respond(request)
      expect((await api.post('x', { retry: 0, json: { item: 1 } })).status).toBe(200)
      expect(servers.api.requests.map(({ method, url }) => `${method} ${url}`)).toStrictEqual([
        'POST /x',
        status === 301 ? 'GET /y' : 'POST /y',
      ])
    },
  )

  it.each([0, { limit: 0 }])('fails a request with a body as an HTTPError with retry: %j', async (retry) => {
    const error = await failureOf(api.post('x', { retry, json: {} }))
    expect(error).toBeInstanceOf(HTTPError)
    expect(error).toMatchObject({ response: { status: 401 }, data: { rejected: 1 } })
    expect(servers.api.requests).toHaveLength(1)
    expect((await api.get('x', { retry })).status).toBe(200)
  })

  it.each([0, { limit: 0 }])(
    'is refreshed for a request without a body even with retry: %j',
    async (retry) => {
      expect((await api.get('x', { retry })).status).toBe(200)
      expect(servers.api.requests).toHaveLength(2)
      servers.api.rejects = (token) => token === servers.endpoint.issued[1]
      expect((await api.delete('x', { retry })).status).toBe(200)
      expect(servers.api.requests).toHaveLength(4)
    },
  )

  it('fails as an HTTPError if the second token is rejected too', async () => {
    servers.api.rejects = () => true
    const error = await failureOf(api.get('x'))
    expect(error).toBeInstanceOf(HTTPError)
    expect(error).toMatchObject({ response: { status: 401 }, data: { rejected: 2 } })
  })

  it('is refreshed for a Request, with a body or without', async () => {
    expect((await api(new Request(`${servers.api.origin}/x`))).status).toBe(200)
    servers.api.rejects = (token) => token === servers.endpoint.issued[1]
    const request = new Request(`${servers.api.origin}/x`, { method: 'POST', body: 'once' })
    expect((await api(request)).status).toBe(200)
  })

  it('is refreshed with throwHttpErrors: false', async () => {
    expect((await api.get('x', { throwHttpErrors: false })).status).toBe(200)
  })

  it('repeats a complete upload with progress events', async () => {
    const progress: number[] = []
    const onUploadProgress = ({ transferredBytes }: { transferredBytes: number }) =>
      void progress.push(transferredBytes)
    await api.post('x', { body: 'y'.repeat(100_000), onUploadProgress })
    expect(servers.api.requests.map(({ body }) => body.length)).toStrictEqual([100_000, 100_000])
    expect(Math.max(...progress)).toBe(100_000)
  })

  it.each([{}, { retry: 0 }])('does not read a streamed upload ahead, to repeat it: %j', async (options) => {
    let chunks = 0
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (++chunks === 1_000) controller.close()
      else controller.enqueue(new Uint8Array(1_000))
    }
    const body = new ReadableStream({ pull }, { highWaterMark: 0 })
    // It responds before it reads the body.
    const send = async () => {
      await setTimeout(20)
      return new Response('early')
    }
    expect(
      await attached({ fetch: send })
        .post('x', { body, ...options })
        .text(),
    ).toBe('early')
    expect(chunks).toBeLessThanOrEqual(1)
  })

  it('is refreshed even if the response cannot be cancelled', async () => {
    const cancel = vi.fn(() => {
      throw new Error('canary')
    })
    const responses = [
      new Response(new ReadableStream({ cancel }), { status: 401 }),
      new Response('accepted'),
    ]
    const fetch = () => Promise.resolve(responses.shift()!)
    expect(await attached({ fetch }).get('x').text()).toBe('accepted')
    expect(cancel).toHaveBeenCalledOnce()
  })

  it('repeats the body that a hook has set', async () => {
    const hook: Hooks['beforeRequest'] = [
      ({ request }) => new Request(request, { method: 'POST', body: 'sealed' }),
    ]
    await api.post('x', { body: 'open', hooks: { beforeRequest: hook } })
    expect(servers.api.requests.map(({ body }) => body)).toStrictEqual(['sealed', 'sealed'])
  })
})

describe('hooks', () => {
  it('run once for a request that is sent again, and get no token', async () => {
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

  it('can change the origin of a request, which then has no token', async () => {
    const elsewhere: Hooks['beforeRequest'] = [({ request }) => new Request(servers.other.origin, request)]
    await failureOf(api.get('x', { hooks: { beforeRequest: elsewhere } }).json())
    await failureOf(
      api.get('x', { hooks: { init: [(options) => void (options.prefix = servers.other.origin)] } }).json(),
    )
    expect(servers.other.tokens).toStrictEqual([undefined, undefined])
    expect(servers.endpoint.requests).toHaveLength(0)
  })

  it('can return a response without a token', async () => {
    const response = await api.get('x', { hooks: { beforeRequest: [() => new Response('mine')] } })
    expect(await response.text()).toBe('mine')
    expect(servers.endpoint.requests).toHaveLength(0)
  })

  it('can set the header themselves', async () => {
    const beforeRequest: Hooks['beforeRequest'] = [
      ({ request }) => request.headers.set('Authorization', 'Bearer mine'),
    ]
    await api.get('x', { hooks: { beforeRequest } })
    expect(servers.api.tokens).toStrictEqual(['mine'])
  })
})

describe('a client', () => {
  it('sends the current token with each retry of ky', async () => {
    const statuses = [503, 503, 200]
    servers.api.respond = () => {
      servers.tokens.reject(servers.tokens.peekToken()!)
      return json({}, statuses.shift())
    }
    await api.get('x')
    expect(servers.endpoint.issued).toHaveLength(3)
    expect(servers.api.tokens).toStrictEqual([...servers.endpoint.issued])
  })

  it('opts out, and one of its requests opts in again', async () => {
    const without = api.extend({ context: { token: false } })
    expect(await failureOf(without.get('x').json())).toBeInstanceOf(HTTPError)
    expect((await without.get('x', { context: { token: undefined } })).status).toBe(200)
  })

  it('keeps its own fetch and the options for it', async () => {
    const seen: unknown[] = []
    const customFetch: Options['fetch'] = (input, init) => {
      const { agent } = init as { agent?: string }
      seen.push([agent, new Headers(init?.headers).get('authorization')])
      return fetch(input, init)
    }
    const options = { fetch: customFetch, agent: 'its own' } as Options
    await attached(options).get('x')
    await api.extend(options).get('x')
    expect(seen).toHaveLength(2)
    expect(seen).toStrictEqual(seen.map(() => ['its own', `Bearer ${servers.endpoint.issued[0]}`]))
  })

  it('uses the global fetch at the time of each request', async () => {
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

  it('accepts two providers for different origins', async () => {
    const both = api.extend(tokenHooks(servers.tokens, { allowedOrigins: [servers.other.origin] }))
    await Promise.all([both.get('x'), both.get('x', { prefix: servers.other.origin })])
    expect([...servers.api.tokens, ...servers.other.tokens]).toStrictEqual(
      Array(2).fill(servers.endpoint.issued[0]),
    )
  })

  it('resolves URLs against baseUrl', async () => {
    const relative = ky.create({ baseUrl: `${servers.api.origin}/v1/` })
    await relative.extend(tokenHooks(servers.tokens, { allowedOrigins: [servers.api.origin] })).get('orders')
    expect(servers.api.requests[0]?.url).toBe('/v1/orders')
    expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0]])
  })
})

it.each([{ timeout: 30 }, { timeout: false, totalTimeout: 30 }] as const)(
  'includes the wait for a token in %j',
  async (times) => {
    servers.endpoint.respond = () => noResponse
    expect(await failureOf(api.get('x', times))).toBeInstanceOf(TimeoutError)
    expect(servers.api.requests).toHaveLength(0)
  },
)

it('passes a failed token request to beforeError without a secret', async () => {
  await api.get('x')
  servers.api.respond = () => json({ error: 'no' }, 400)
  const seen: unknown[] = []
  const error = await failureOf(
    api.get('x', { hooks: { beforeError: [(state) => (seen.push(state), state.error)] } }),
  )
  expectNoSecrets([error, seen], servers.endpoint.issued)
  expect(seen).toHaveLength(1)
})
