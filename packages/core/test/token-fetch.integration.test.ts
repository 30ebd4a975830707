import type { IncomingMessage, RequestListener } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import {
  clientCredentials,
  createTokenFetch,
  createTokenProvider,
  type AttachOptions,
  type TokenEvent,
  type TokenRequestInit,
} from '@tokenwell/core'
import { Issuer } from './issuer.ts'
import { readText, startServer } from './local-server.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** An API that answers as `listener` says, after noting what came; by default 200 to live tokens, 401 to others. */
async function start(options: Partial<AttachOptions> = {}, listener?: RequestListener) {
  const issuer = await new Issuer().start()
  const seen: Seen[] = []
  const api = await startServer((request, response) => {
    void readText(request).then((body) => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body })
      if (listener) return listener(request, response)
      response.statusCode = issuer.accepts(request.headers.authorization) ? 200 : 401
      response.end(`answer ${response.statusCode}`)
    })
  })
  const events: TokenEvent[] = []
  const tokens = createTokenProvider(
    clientCredentials({ authUrl: issuer.origin, clientId: 'client', clientSecret: 'secret' }),
    { onEvent: (event) => events.push(event) },
  )
  const tokenFetch = createTokenFetch(tokens, { allowedOrigins: [api], ...options })
  return { api, events, issuer, seen, tokenFetch, tokens }
}

/** Has the token refused that is at hand. */
async function revoke({ issuer, tokens }: Awaited<ReturnType<typeof start>>): Promise<void> {
  issuer.revoked.add((await tokens.getToken()).value)
}

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

  it('sends requests to other origins as they are', async () => {
    const { events, issuer, tokenFetch } = await start()
    const headers: unknown[] = []
    const other = await startServer((request, response) => {
      headers.push(request.headers.authorization)
      response.statusCode = 401
      response.end()
    })
    expect((await tokenFetch(`${other}/path?q`, { headers: { 'x-own': '1' } })).status).toBe(401)
    expect(headers).toEqual([undefined])
    expect(issuer.requests).toBe(0)
    expect(events).toEqual([{ type: 'token_withheld', origin: other }])
  })

  it('keeps method, headers and body, however the headers are given', async () => {
    const { api, seen, tokenFetch } = await start()
    const pairs = { 'x-one': '1', 'content-type': 'text/plain' }
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

  it('changes nothing that it was given', async () => {
    const { api, tokenFetch } = await start()
    const headers = new Headers({ 'x-own': '1' })
    const init: TokenRequestInit = Object.freeze({ headers, token: undefined })
    const record = Object.freeze({ 'x-own': '1' })
    const request = new Request(api, { headers })
    await tokenFetch(api, init)
    await tokenFetch(api, { headers: record })
    await tokenFetch(request)
    expect([...headers]).toEqual([['x-own', '1']])
    expect(request.headers.has('authorization')).toBe(false)
  })

  it.each<[string, TokenRequestInit]>([
    ['a record', { headers: { authorization: 'Basic own' } }],
    ['a record in other letters', { headers: { AUTHORIZATION: 'Basic own' } }],
    ['pairs', { headers: [['Authorization', 'Basic own']] }],
    ['headers', { headers: new Headers({ authorization: 'Basic own' }) }],
  ])('leaves alone a header that the caller set in %s', async (_name, init) => {
    const { api, issuer, seen, tokenFetch } = await start()
    expect((await tokenFetch(api, init)).status).toBe(401)
    expect((await tokenFetch(new Request(api, init))).status).toBe(401)
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Basic own', 'Basic own'])
    expect(issuer.requests).toBe(0)
  })

  it('looks at the headers that are sent: those beside a Request stand in for its own', async () => {
    const { api, seen, tokenFetch } = await start()
    const request = new Request(api, { headers: { authorization: 'Basic own' } })
    await tokenFetch(request, { headers: { 'x-own': '1' } })
    expect(seen[0]!.headers).toMatchObject({ authorization: 'Bearer token-1', 'x-own': '1' })
  })

  it('sends one request without a token where that is asked', async () => {
    const { api, issuer, seen, tokenFetch } = await start()
    expect((await tokenFetch(api, { token: false })).status).toBe(401)
    expect(seen[0]!.headers.authorization).toBeUndefined()
    expect(issuer.requests).toBe(0)
  })

  it('sends nothing when there is no token to be had', async () => {
    const { api, issuer, seen, tokenFetch, tokens } = await start()
    await tokens.close()
    await expect(tokenFetch(api)).rejects.toMatchObject({ name: 'TokenError', kind: 'aborted' })
    expect(seen).toHaveLength(0)
    expect(issuer.requests).toBe(0)
  })

  it('ends a wait for a token with the caller’s reason', async () => {
    const { api, issuer, seen, tokenFetch } = await start()
    issuer.latencyMs = 60_000
    for (const request of [undefined, new Request(api, { signal: AbortSignal.timeout(50) })]) {
      const call = request ? tokenFetch(request) : tokenFetch(api, { signal: AbortSignal.timeout(50) })
      await expect(call).rejects.toMatchObject({ name: 'TimeoutError' })
    }
    expect(seen).toHaveLength(0)
  })

  it('uses the fetch that it was given, or the global one of the moment', async () => {
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

  it('passes on what the fetch throws', async () => {
    const { api, tokens } = await start()
    const failing = createTokenFetch(tokens, {
      allowedOrigins: [api],
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    })
    await expect(failing(api)).rejects.toThrow('fetch failed')
  })

  it('hands on an answer as it streams', async () => {
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

describe('a refused request', () => {
  const repeatable: [string, () => BodyInit | null | undefined][] = [
    ['no body', () => undefined],
    ['null', () => null],
    ['text', () => 'body'],
    ['parameters', () => new URLSearchParams({ body: 'body' })],
    ['bytes', () => new TextEncoder().encode('body')],
    ['a buffer', () => new TextEncoder().encode('body').buffer],
    ['a blob', () => new Blob(['body'])],
  ]
  it.each(repeatable)('with %s is sent once more with a new token', async (_name, body) => {
    const started = await start()
    const { api, issuer, seen, tokenFetch } = started
    await revoke(started)
    const response = await tokenFetch(api, { method: 'POST', body: body() ?? null })
    expect([response.status, await response.text()]).toEqual([200, 'answer 200'])
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(seen[1]!.body).toBe(seen[0]!.body)
    expect(issuer.requests).toBe(2)
  })

  it('with a form is sent once more, files included', async () => {
    const started = await start()
    await revoke(started)
    const form = new FormData()
    form.set('file', new Blob(['contents']), 'file.txt')
    expect((await started.tokenFetch(started.api, { method: 'POST', body: form })).status).toBe(200)
    expect(started.seen).toHaveLength(2)
    for (const { body } of started.seen) expect(body).toContain('contents')
  })

  it('that is a Request without a body is sent once more', async () => {
    const started = await start()
    await revoke(started)
    expect((await started.tokenFetch(new Request(started.api))).status).toBe(200)
    expect(started.seen).toHaveLength(2)
  })

  it.each<[string, (api: string) => Parameters<typeof fetch>]>([
    ['a stream', (api) => [api, streaming()]],
    [
      'an iterator',
      (api) => [api, { method: 'POST', body: chunks() as never, duplex: 'half' } as RequestInit],
    ],
    ['a Request with a body', (api) => [new Request(api, { method: 'POST', body: 'body' })]],
    ['a Request with a stream', (api) => [new Request(api, streaming())]],
  ])('with %s is not: the caller gets the 401 whole, the next call a new token', async (_name, call) => {
    const started = await start()
    const { api, seen, tokenFetch } = started
    await revoke(started)
    const response = await tokenFetch(...call(api))
    expect([response.status, await response.text()]).toEqual([401, 'answer 401'])
    expect(seen).toHaveLength(1)
    expect((await tokenFetch(api)).status).toBe(200)
    expect(seen[1]!.headers.authorization).toBe('Bearer token-2')
  })

  it('that is a Request of a browser that shows no body is not sent a second time either', async () => {
    const started = await start()
    await revoke(started)
    const request = new Request(started.api, { method: 'POST', body: 'body' })
    Object.defineProperty(request, 'body', { value: undefined })
    const response = await started.tokenFetch(request)
    expect([response.status, await response.text()]).toEqual([401, 'answer 401'])
  })

  it('is sent no third time', async () => {
    const { api, issuer, seen, tokenFetch } = await start({}, (_request, response) => {
      response.statusCode = 401
      response.end('no')
    })
    const response = await tokenFetch(api)
    expect([response.status, await response.text()]).toEqual([401, 'no'])
    expect(seen).toHaveLength(2)
    expect(issuer.requests).toBe(2)
  })

  it('is not sent again where that is turned off', async () => {
    const started = await start({ retryOnRejection: false })
    await revoke(started)
    expect((await started.tokenFetch(started.api)).status).toBe(401)
    expect(started.seen).toHaveLength(1)
    expect((await started.tokenFetch(started.api)).status).toBe(200)
  })

  it('keeps its own answer where no new token is to be had', async () => {
    const started = await start()
    await revoke(started)
    started.issuer.broken = true
    const response = await started.tokenFetch(started.api)
    expect([response.status, await response.text()]).toEqual([401, 'answer 401'])
    expect(started.issuer.requests).toBe(2)
  })

  it('for want of scope is the caller’s, and no token is asked for', async () => {
    const { api, issuer, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope"' })
      response.end()
    })
    expect((await tokenFetch(api)).status).toBe(403)
    expect(issuer.requests).toBe(1)
  })

  it('by the gateway’s fault is known by its body, whatever its status, and the body stays whole', async () => {
    const fault = (errorcode: string): string =>
      JSON.stringify({ fault: { detail: { errorcode } }, filler: 'x'.repeat(100_000) })
    let answers = 0
    const { api, seen, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(500, { 'content-type': 'application/json' })
      const code =
        ++answers === 1 ? 'keymanagement.service.access_token_expired' : 'policies.ratelimit.QuotaViolation'
      response.end(
        answers === 1
          ? fault(code)
              .slice(0, 200)
              .replace(/,"filler.*$/, '}')
          : fault(code),
      )
    })
    const response = await tokenFetch(api)
    expect(response.status).toBe(500)
    expect(await response.text()).toBe(fault('policies.ratelimit.QuotaViolation'))
    expect(seen).toHaveLength(2)
  })

  it('whose body never ends is read no further than 16 KiB', async () => {
    const { api, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(500, { 'content-type': 'application/json' })
      const more = (): void => void (response.write(' '.repeat(1_024)) && setImmediate(more))
      more()
      response.write(' '.repeat(20_000))
    })
    const response = await tokenFetch(api)
    expect(response.status).toBe(500)
    await response.body?.cancel()
  })

  it('that streams events is not read at all', async () => {
    const { api, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(500, { 'content-type': 'text/event-stream' })
      response.write('data: first\n\n')
    })
    const response = await tokenFetch(api)
    const { value } = await response.body!.getReader().read()
    expect(new TextDecoder().decode(value)).toBe('data: first\n\n')
  })

  it('whose body comes to a stop is decided without it', async () => {
    let answers = 0
    const { api, seen, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(++answers === 1 ? 401 : 200, { 'content-type': 'application/json' })
      if (answers === 1) response.write('{"fault":')
      else response.end('{}')
    })
    expect((await tokenFetch(api)).status).toBe(200)
    expect(seen).toHaveLength(2)
  })

  it('whose body comes to a stop can be given up by the caller', async () => {
    const { api, tokenFetch } = await start({}, (_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.write('{"fault":')
    })
    const call = tokenFetch(api, { signal: AbortSignal.timeout(200) })
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' })
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

  it.each([301, 302, 303, 307, 308])(
    '(%d) to another origin does not take the token along',
    async (status) => {
      const { api, elsewhere, issuer, tokenFetch, tokens } = await redirecting({}, status)
      const response = await tokenFetch(`${api}/away`)
      expect([response.status, await response.text()]).toEqual([401, 'elsewhere'])
      expect(elsewhere).toHaveLength(1)
      expect(elsewhere[0]).not.toHaveProperty('authorization')
      // Its 401 says nothing about the token.
      expect(tokens.peekToken()?.value).toBe('token-1')
      expect(issuer.requests).toBe(1)
    },
  )

  it('within the origin takes it along', async () => {
    const { api, seen, tokenFetch } = await redirecting({})
    expect((await tokenFetch(`${api}/here`)).status).toBe(200)
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-1'])
  })

  it('is not followed with a header that clients do not drop', async () => {
    const { api, elsewhere, seen, tokenFetch } = await redirecting({ header: 'X-Access-Token', scheme: '' })
    const response = await tokenFetch(`${api}/away`)
    expect(response.status).toBe(302)
    expect(seen[0]!.headers['x-access-token']).toBe('token-1')
    expect(elsewhere).toEqual([])
    await expect(tokenFetch(new Request(`${api}/away`))).resolves.toMatchObject({ status: 302 })
    expect(elsewhere).toEqual([])
  })

  it('that the caller forbids stays forbidden with such a header', async () => {
    const { api, tokenFetch } = await redirecting({ header: 'X-Access-Token' })
    await expect(tokenFetch(`${api}/away`, { redirect: 'error' })).rejects.toThrow()
  })
})

function streaming(): RequestInit {
  return { method: 'POST', body: new Blob(['body']).stream(), duplex: 'half' } as RequestInit
}

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode('body')
}
