import { noResponse } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { allowPages, hasChromium, inChromium, useChromiumPage } from '@tokenwell/internal-testing/chromium'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PageScript } from './script.ts'

// Defined only in the page, where the functions passed to `evaluate` run.
declare const page: PageScript

describe.skipIf(!hasChromium)(`ky ${inChromium}`, () => {
  const servers = useTestServers()
  const script = fileURLToPath(new URL('script.ts', import.meta.url))
  const chromium = useChromiumPage(script, () => servers.endpoint.source)
  beforeEach(() => [servers.api, servers.other].forEach(allowPages))

  it('sends every kind of body, and repeats it after a rejection, and receives no secret', async () => {
    servers.api.rejects = (token) => token === servers.endpoint.issued[0]
    const results = await chromium.evaluate(async (prefix) => {
      const api = page.ky
        .extend({ prefix })
        .extend(page.tokenHooks(page.tokens, { allowedOrigins: [prefix] }))
      const form = new FormData()
      form.append('file', new Blob(['of a file']), 'a.txt')
      const bodies = [
        form,
        { a: 'ü' },
        'text',
        new URLSearchParams({ a: '1' }),
        new Blob(['blob']),
        new Uint8Array([7]),
      ]
      const results: unknown[] = []
      for (const body of bodies) {
        const plain = Object.getPrototypeOf(body) === Object.prototype
        results.push(await api.post('x', plain ? { json: body } : { body: body as BodyInit }).json())
      }
      return results
    }, servers.api.origin)
    expect(results).toStrictEqual(results.map(() => ({ accepted: true })))
    const posts = servers.api.requests.filter(({ method }) => method === 'POST')
    expect(posts).toHaveLength(7)
    expect(posts[1]?.body).toBe(posts[0]?.body)
    expect(posts[1]?.headers['content-type']).toBe(posts[0]?.headers['content-type'])
    expect(servers.endpoint.issued).toHaveLength(2)
    const received = await chromium.received()
    expect(received).toContain(servers.endpoint.issued[1])
    expect(received).not.toContain('a-secret')
  })

  it('sends tokens to the origin of the page only', async () => {
    const { respond } = chromium.backend
    chromium.backend.respond = (request) =>
      request.url.startsWith('/api/') ? { body: request.headers.authorization ?? 'none' } : respond(request)
    const results = await chromium.evaluate(async (other) => {
      const api = page.ky.extend(page.tokenHooks(page.tokens, { allowedOrigins: [location.origin] }))
      const status = async (url: string) => (await api(url, { throwHttpErrors: false })).status
      return {
        own: await api('/api/orders').text(),
        others: [await status(other), await status(other.replace('http:', ''))],
      }
    }, servers.other.origin)
    expect(results).toStrictEqual({ own: `Bearer ${servers.endpoint.issued[0]}`, others: [401, 401] })
    expect(servers.other.tokens.filter(Boolean)).toStrictEqual([])
  })

  it('sends no token in any header after a redirect to another origin', async () => {
    servers.api.respond = () => ({ status: 302, headers: { location: `${servers.other.origin}/to` } })
    allowPages(servers.api)
    const outcomes = await chromium.evaluate(async (url) => {
      const outcomeWith = async (header: string) => {
        const hooks = page.tokenHooks(page.tokens, { allowedOrigins: [url], header })
        return (await page.ky.extend(hooks)(url, { throwHttpErrors: false })).status
      }
      return [await outcomeWith('Authorization'), await outcomeWith('X-Api-Token')]
    }, servers.api.origin)
    // A page cannot see where a redirect leads that is not followed.
    expect(outcomes).toStrictEqual([401, 0])
    expect(servers.other.requests.filter(({ method }) => method === 'GET')).toHaveLength(1)
    expect(JSON.stringify(servers.other.requests)).not.toContain(servers.endpoint.issued[0])
  })

  it('ends the wait for a token with the signal or the timeout of the request', async () => {
    const { respond } = chromium.backend
    chromium.backend.respond = (request) => (request.url === '/token' ? noResponse : respond(request))
    const names = await chromium.evaluate(async (url) => {
      const api = page.ky.extend(page.tokenHooks(page.tokens, { allowedOrigins: [url] }))
      const nameOf = (options: object) => api(url, options).then(String, ({ name }: Error) => name)
      return [await nameOf({ signal: AbortSignal.abort() }), await nameOf({ timeout: 20 })]
    }, servers.api.origin)
    expect(names).toStrictEqual(['AbortError', 'TimeoutError'])
    expect(servers.api.requests).toHaveLength(0)
  })
})
