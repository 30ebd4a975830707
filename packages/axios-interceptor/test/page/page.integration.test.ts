import { noResponse } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { allowPages, hasChromium, inChromium, useChromiumPage } from '@tokenwell/internal-testing/chromium'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PageScript } from './script.ts'

// Defined only in the page, where the functions passed to `evaluate` run.
declare const page: PageScript

describe.skipIf(!hasChromium)(`axios ${inChromium}`, () => {
  const servers = useTestServers()
  const script = fileURLToPath(new URL('script.ts', import.meta.url))
  const chromium = useChromiumPage(script, () => servers.endpoint.source)
  beforeEach(() => [servers.api, servers.other].forEach(allowPages))

  it('sends every kind of body over XMLHttpRequest, and repeats it after a rejection', async () => {
    servers.api.rejects = (token) => token === servers.endpoint.issued[0]
    const results = await chromium.evaluate(async (baseURL) => {
      const api = page.axios.create({ baseURL })
      page.attachTokens(api, page.tokens)
      const form = new FormData()
      form.append('file', new Blob(['of a file']), 'a.txt')
      const bodies = [
        { a: 'ü' },
        'text',
        new URLSearchParams({ a: '1' }),
        form,
        new Blob(['blob']),
        new Uint8Array([7]),
      ]
      const results = []
      for (const body of bodies) {
        const { data, request } = await api.post('/', body)
        results.push({ data, xhr: request instanceof XMLHttpRequest })
      }
      return results
    }, servers.api.origin)
    expect(results).toStrictEqual(results.map(() => ({ data: { accepted: true }, xhr: true })))
    const posts = servers.api.requests.filter(({ method }) => method === 'POST')
    expect(posts).toHaveLength(7)
    expect(posts[1]?.body).toBe(posts[0]?.body)
    expect(servers.endpoint.issued).toHaveLength(2)
  })

  it('receives no secret and shows no token in errors', async () => {
    const shown = await chromium.evaluate(async (baseURL) => {
      const api = page.axios.create({ baseURL })
      page.attachTokens(api, page.tokens)
      const { data: _data, ...response } = await api.get('/')
      const error = await api
        .get('/', { timeout: 1, adapter: 'xhr', url: '/slow' })
        .catch((error: unknown) => error)
      const rejected = await api.get('/').catch((error: unknown) => error)
      return JSON.stringify([response, error, rejected, Object.entries(error as object)])
    }, servers.api.origin)
    expect(servers.endpoint.issued).toHaveLength(1)
    expect(shown).not.toContain(servers.endpoint.issued[0])
    const received = await chromium.received()
    expect(received).toContain(servers.endpoint.issued[0])
    expect(received).not.toContain('a-secret')
  })

  it('sends tokens to the origin of the page only', async () => {
    const { respond } = chromium.backend
    chromium.backend.respond = (request) =>
      request.url.startsWith('/api/') ? { body: request.headers.authorization ?? 'none' } : respond(request)
    const results = await chromium.evaluate(async (other) => {
      const api = page.axios.create({ baseURL: '/api' })
      page.attachTokens(api, page.tokens)
      const get = async (url: string, config = {}) =>
        (await api.get(url, { validateStatus: null, ...config })).status
      const sameOrigin = [(await api.get('orders')).data, (await api.get(`${location.origin}/api/x`)).data]
      const host = new URL(other).host
      return {
        sameOrigin,
        others: [await get(other), await get(`//${host}/x`), await get('/x', { baseURL: other })],
      }
    }, servers.other.origin)
    expect(results.sameOrigin).toStrictEqual(Array(2).fill(`Bearer ${servers.endpoint.issued[0]}`))
    expect(results.others).toStrictEqual([401, 401, 401])
    expect(servers.other.tokens.filter(Boolean)).toStrictEqual([])
  })

  it('sends no token in any header after a redirect to another origin', async () => {
    servers.api.respond = () => ({ status: 302, headers: { location: `${servers.other.origin}/to` } })
    allowPages(servers.api)
    const outcomes = await chromium.evaluate(async (baseURL) => {
      const outcomeWith = async (options: object) => {
        const api = page.axios.create({ baseURL, validateStatus: null })
        page.attachTokens(api, page.tokens, options)
        return api.get('/').then(
          ({ status }) => status,
          ({ code }: { code: string }) => code,
        )
      }
      return [await outcomeWith({}), await outcomeWith({ header: 'X-Api-Token' })]
    }, servers.api.origin)
    expect(outcomes).toStrictEqual([401, 'ERR_NETWORK'])
    const arrived = servers.other.requests.filter(({ method }) => method === 'GET')
    expect(arrived).toHaveLength(1)
    expect(JSON.stringify(servers.other.requests)).not.toContain(servers.endpoint.issued[0])
  })

  it('causes one token request for 200 concurrent requests with a revoked token', async () => {
    const run = (count: number) =>
      chromium.evaluate(
        async ({ baseURL, count }) => {
          const api = page.axios.create({ baseURL, validateStatus: null })
          page.attachTokens(api, page.tokens)
          const all = Array.from({ length: count }, (_, index) => api.post(`/${index}`, { index }))
          return (await Promise.all(all)).map(({ status }) => status)
        },
        { baseURL: servers.api.origin, count },
      )
    await run(1)
    servers.api.rejects = (token) => token === servers.endpoint.issued[0]
    expect(new Set(await run(200))).toStrictEqual(new Set([200]))
    expect(servers.endpoint.issued).toHaveLength(2)
  })

  it('ends the wait for a token with the signal or the timeout of the request', async () => {
    const { respond } = chromium.backend
    chromium.backend.respond = (request) => (request.url === '/token' ? noResponse : respond(request))
    const codes = await chromium.evaluate(async (baseURL) => {
      const api = page.axios.create({ baseURL })
      page.attachTokens(api, page.tokens)
      const codeOf = (config: object) => api.get('/', config).catch(({ code }: { code: string }) => code)
      return [await codeOf({ signal: AbortSignal.timeout(20) }), await codeOf({ timeout: 20 })]
    }, servers.api.origin)
    expect(codes).toStrictEqual(['ERR_CANCELED', 'ECONNABORTED'])
    expect(servers.api.requests).toHaveLength(0)
  })
})
