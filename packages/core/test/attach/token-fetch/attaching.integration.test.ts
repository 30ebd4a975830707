import type { IncomingMessage } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTokenFetch, type AttachOptions, type FetchLike, type TokenFetch } from '@tokenwell/core'
import { createTokenAttacher, fetchWithToken, type TokenAttacher } from '@tokenwell/core/adapter'
import { startServer } from '../../support/issuer.ts'
import { start } from './protected-api.ts'

type TokenFetchInit = NonNullable<Parameters<TokenFetch>[1]>

describe('a fetch with tokens', () => {
  it('sends them to the allowed origin', async () => {
    const { api, issuer, seen, tokenFetch } = await start()
    for (const input of [api, `${api}/a?b`, new URL('/c', api), new Request(`${api}/d`)]) {
      expect((await tokenFetch(input)).status).toBe(200)
    }
    expect(seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/', 'Bearer token-1'],
      ['/a?b', 'Bearer token-1'],
      ['/c', 'Bearer token-1'],
      ['/d', 'Bearer token-1'],
    ])
    expect(issuer.requests).toBe(1)
  })

  it('does not change requests to other origins', async () => {
    const { events, issuer, tokenFetch } = await start()
    vi.stubEnv('NODE_ENV', 'development')
    onTestFinished(() => void vi.unstubAllEnvs())
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    const headers: unknown[] = []
    const other = await startServer((request, response) => {
      headers.push(request.headers.authorization)
      response.statusCode = 401
      response.end()
    })
    expect((await tokenFetch(`${other}/path?q`, { headers: { 'x-own': '1' } })).status).toBe(401)
    expect(headers).toEqual([undefined])
    expect(issuer.requests).toBe(0)
    expect(events).toEqual([{ type: 'token_withheld', origin: other, label: expect.any(String) as string }])
    await tokenFetch(other)
    expect(warn.mock.calls).toEqual([[expect.stringContaining(`${other} responded with status 401`)]])
    warn.mockRestore()
  })

  it('keeps method, body, and headers in any form', async () => {
    const { api, seen, tokenFetch } = await start()
    // The last name is as long as "authorization".
    const pairs = { 'x-one': '1', 'content-type': 'text/plain', 'if-none-match': '"tag"' }
    for (const headers of [pairs, Object.entries<string>(pairs), new Headers(pairs)]) {
      await tokenFetch(api, { method: 'PUT', headers, body: 'body' })
      await tokenFetch(new Request(api, { method: 'PUT', headers, body: 'body' }))
    }
    expect(seen).toHaveLength(6)
    for (const { method, headers, body } of seen) {
      expect({ method, body }).toEqual({ method: 'PUT', body: 'body' })
      expect(headers).toMatchObject({ ...pairs, authorization: 'Bearer token-1' })
    }
  })

  it('accepts an attacher of another implementation', async () => {
    const { api, tokens } = await start()
    const attacher = createTokenAttacher(tokens, { allowedOrigins: [api] })
    const other = Object.fromEntries(Object.entries(attacher)) as unknown as TokenAttacher
    expect((await fetchWithToken(other, fetch, api)).status).toBe(200)
  })

  it('does not change its arguments', async () => {
    const { api, tokenFetch } = await start()
    const headers = new Headers({ 'x-own': '1' })
    const init: TokenFetchInit = Object.freeze({ headers, token: undefined })
    const record = Object.freeze({ 'x-own': '1' })
    const request = new Request(api, { headers })
    await tokenFetch(api, init)
    await tokenFetch(api, { headers: record })
    await tokenFetch(request)
    expect([...headers]).toEqual([['x-own', '1']])
    expect(request.headers.has('authorization')).toBe(false)
  })

  it.each<[string, TokenFetchInit]>([
    ['a record', { headers: { authorization: 'Basic own' } }],
    ['a record in other letters', { headers: { AUTHORIZATION: 'Basic own' } }],
    ['pairs', { headers: [['Authorization', 'Basic own']] }],
    ['headers', { headers: new Headers({ authorization: 'Basic own' }) }],
  ])('does not overwrite a header that the caller set in %s', async (_name, init) => {
    const { api, issuer, seen, tokenFetch } = await start()
    expect((await tokenFetch(api, init)).status).toBe(401)
    expect((await tokenFetch(new Request(api, init))).status).toBe(401)
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Basic own', 'Basic own'])
    expect(issuer.requests).toBe(0)
  })

  it('passes headers to fetch that no other request uses', async () => {
    const { api, seen, tokenFetch } = await start({
      fetch(input, init) {
        const response = fetch(input, init)
        Object.assign(init.headers, { 'x-previous': 'yes' })
        return response
      },
    })
    for (const path of ['/a', '/b', '/c']) await tokenFetch(api + path)
    for (const { headers } of seen) expect(headers).not.toHaveProperty('x-previous')
    expect(seen).toHaveLength(3)
  })

  it('uses the headers of the options, which replace those of a Request', async () => {
    const { api, seen, tokenFetch } = await start()
    const request = new Request(api, { headers: { authorization: 'Basic own' } })
    await tokenFetch(request, { headers: { 'x-own': '1' } })
    expect(seen[0]!.headers).toMatchObject({ authorization: 'Bearer token-1', 'x-own': '1' })
  })

  it('keeps headers that can be read only once, also to other origins', async () => {
    const fetch = vi.fn(async (_input: unknown, init?: RequestInit) =>
      Response.json([...new Headers(init?.headers).keys()]),
    )
    const { api, tokenFetch } = await start({ fetch })
    const headers = () => new Map([['x-own', '1']]).entries() as never
    expect(await (await tokenFetch(api, { headers: headers() })).json()).toEqual(['authorization', 'x-own'])
    const other = await tokenFetch('https://other.example.com', { headers: headers() })
    expect(await other.json()).toEqual(['x-own'])
  })

  it('sends a request without a token if it opts out', async () => {
    const { api, issuer, seen, tokenFetch } = await start()
    expect((await tokenFetch(api, { token: false })).status).toBe(401)
    expect(seen[0]!.headers.authorization).toBeUndefined()
    expect(issuer.requests).toBe(0)
  })

  it('accepts null for the options, as fetch does', async () => {
    const { api, seen, tokenFetch } = await start()
    for (let call = 0; call < 2; call += 1) expect((await tokenFetch(api, null)).status).toBe(200)
    expect(seen).toHaveLength(2)
  })

  it('accepts a Request of a library that has no signal', async () => {
    const { api, tokenFetch } = await start()
    for (let call = 0; call < 2; call += 1) {
      const request = Object.defineProperty(new Request(api), 'signal', { value: undefined })
      expect((await tokenFetch(request)).status).toBe(200)
    }
  })

  it('passes the options of fetch on, without the one to opt out', async () => {
    const fetch = vi.fn(() => Promise.resolve(new Response()))
    const { api, tokenFetch } = await start({ fetch })
    await tokenFetch(api, { method: 'PUT', cache: 'no-store', token: false })
    expect(fetch).toHaveBeenCalledWith(api, { method: 'PUT', cache: 'no-store' })
  })

  it('sends nothing if no token is available', async () => {
    const { api, issuer, seen, tokenFetch, tokens } = await start()
    await tokens.close()
    await expect(tokenFetch(api)).rejects.toMatchObject({ name: 'TokenError', kind: 'aborted' })
    expect(seen).toHaveLength(0)
    expect(issuer.requests).toBe(0)
  })

  it("stops waiting for a token with the caller's reason", async () => {
    const { api, issuer, seen, tokenFetch } = await start()
    issuer.latencyMs = 60_000
    for (const request of [undefined, new Request(api, { signal: AbortSignal.timeout(50) })]) {
      const call = request ? tokenFetch(request) : tokenFetch(api, { signal: AbortSignal.timeout(50) })
      await expect(call).rejects.toMatchObject({ name: 'TimeoutError' })
    }
    expect(seen).toHaveLength(0)
  })

  it('sends nothing for a Request that was aborted before the call', async () => {
    const fetch = vi.fn(() => Promise.resolve(new Response()))
    const { api, tokenFetch } = await start({ fetch })
    await tokenFetch(api)
    const request = new Request(api, { signal: AbortSignal.abort(new Error('left')) })
    await expect(tokenFetch(request)).rejects.toThrow('left')
    expect(fetch).toHaveBeenCalledOnce()
  })

  it.each([null, undefined, 'http://'])('rejects the invalid URL %j as fetch does', async (input) => {
    const { tokenFetch } = await start()
    const result = tokenFetch(input as never)
    await expect(result).rejects.toThrow(TypeError)
  })

  it('rejects invalid headers as fetch does', async () => {
    const { api, tokenFetch } = await start()
    await tokenFetch(api)
    const headers = [['only a name']] as never
    const result = tokenFetch(api, { headers })
    await expect(result).rejects.toThrow(TypeError)
  })

  it('uses the given fetch, or the global one at the time of the call', async () => {
    const { api, tokens } = await start()
    const own = vi.fn(() => Promise.resolve(new Response('own')))
    const later = createTokenFetch(tokens, { allowedOrigins: [api] })
    const given = createTokenFetch(tokens, { allowedOrigins: [api], fetch: own })
    expect(await (await given(api)).text()).toBe('own')
    await tokens.getToken()
    vi.stubGlobal('fetch', own)
    expect(await (await later(api)).text()).toBe('own')
    vi.unstubAllGlobals()
    expect(own).toHaveBeenCalledTimes(2)
  })

  it.each(['GET', 'POST'])('passes the URL of a %s to fetch as the caller wrote it', async (method) => {
    const urls: unknown[] = []
    const { api, tokenFetch } = await start({
      fetch: async (input) => new Response(String(urls.push(input))),
    })
    const given = [api, `${api}/a b`, `${api}/a/../b`]
    for (const url of given) await tokenFetch(url, { method })
    expect(urls).toEqual(given)
  })

  it('passes on errors from fetch', async () => {
    const { api, tokens } = await start()
    const failing = createTokenFetch(tokens, {
      allowedOrigins: [api],
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    })
    await expect(failing(api)).rejects.toThrow('fetch failed')
  })

  it('returns a response while it is streaming', async () => {
    const { api, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"first":')
    })
    const response = await tokenFetch(api)
    const reader = response.body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('{"first":')
    await reader.cancel()
  })
})

/** As in Workers with a compatibility date before 2025-09-01: it sends every header to every origin. */
const leakingFetch: FetchLike = async (input, init) => {
  const request = new Request(input, init)
  const response = await fetch(new Request(request, { redirect: 'manual' }))
  const location = response.headers.get('location')
  if (request.redirect !== 'follow' || location === null) return response
  return leakingFetch(new URL(location, request.url), { headers: request.headers })
}

describe.each([301, 302, 303, 307, 308])('a redirect (%d) of a fetch that sends the token on', (status) => {
  it.each(
    ['GET', 'POST'].flatMap((method) =>
      [200, 401].flatMap((last) => [true, false].map((within) => [method, last, within] as const)),
    ),
  )('%s, last response %d, within the origin: %j', async (method, last, within) => {
    const elsewhere: (string | undefined)[] = []
    const other = await startServer(({ headers }, response) => {
      elsewhere.push(headers.authorization)
      response.writeHead(last).end()
    })
    const { api, seen, issuer, tokenFetch } = await start({ fetch: leakingFetch }, ({ url }, response) => {
      if (url === '/end') response.writeHead(last).end()
      else response.writeHead(status, { location: within ? '/end' : `${other}/end` }).end()
    })
    const response = await tokenFetch(`${api}/from`, method === 'POST' ? { method, body: 'tea' } : {})
    expect([response.status, response.redirected]).toEqual([last, true])
    const next = status < 304 ? 'GET' : method
    // A 401 belongs to the redirected request: only that one is repeated, with another token.
    const ends = Array.from({ length: within ? (last === 401 ? 2 : 1) : 0 }, () => `${next} /end`)
    expect(seen.map((request) => `${request.method} ${request.url}`)).toEqual([`${method} /from`, ...ends])
    expect(elsewhere).toEqual(within ? [] : [undefined])
    expect(issuer.requests).toBe(Math.max(1, ends.length))
  })
})

describe('a redirect', () => {
  async function redirecting(options: Partial<AttachOptions>, status = 302) {
    const elsewhere: IncomingMessage['headers'][] = []
    const target = await startServer((request, response) => {
      elsewhere.push(request.headers)
      response.statusCode = 401
      response.end('elsewhere')
    })
    const started = await start(options, (request, response) => {
      const location = request.url === '/here' ? '/end' : `${target}/end`
      response.writeHead(request.url === '/end' ? 200 : status, request.url === '/end' ? {} : { location })
      response.end('end')
    })
    return { ...started, elsewhere }
  }

  it.each([301, 302, 303, 307, 308])('(%d) to another origin does not carry the token', async (status) => {
    const { api, elsewhere, issuer, tokenFetch, tokens } = await redirecting({}, status)
    const response = await tokenFetch(`${api}/away`)
    expect([response.status, await response.text()]).toEqual([401, 'elsewhere'])
    expect(elsewhere).toHaveLength(1)
    expect(elsewhere[0]).not.toHaveProperty('authorization')
    // Its 401 does not concern the token.
    expect(tokens.peekToken()?.value).toBe('token-1')
    expect(issuer.requests).toBe(1)
  })

  it('within the origin carries the token', async () => {
    const { api, seen, tokenFetch } = await redirecting({})
    expect((await tokenFetch(`${api}/here`)).status).toBe(200)
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-1'])
  })

  it('is not followed with a custom header, which clients do not drop', async () => {
    const { api, elsewhere, seen, tokenFetch } = await redirecting({ header: 'X-Access-Token', scheme: '' })
    const response = await tokenFetch(`${api}/away`)
    expect(response.status).toBe(302)
    expect(seen[0]!.headers['x-access-token']).toBe('token-1')
    expect(elsewhere).toEqual([])
    await expect(tokenFetch(new Request(`${api}/away`))).resolves.toMatchObject({ status: 302 })
    expect(elsewhere).toEqual([])
  })

  it('that the caller forbids remains forbidden with a custom header', async () => {
    const { api, tokenFetch } = await redirecting({ header: 'X-Access-Token' })
    await expect(tokenFetch(`${api}/away`, { redirect: 'error' })).rejects.toThrow()
  })
})
