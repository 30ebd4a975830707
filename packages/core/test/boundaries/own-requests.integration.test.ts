import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  clientCredentials,
  createTokenFetch,
  createTokenPool,
  createTokenProvider,
  type TokenSource,
} from '@tokenwell/core'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const plain = globalThis.fetch
let origin: string
let received: string[]
let stop: () => Promise<unknown>

beforeEach(async () => {
  received = []
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = '', headers } = request
    received.push(`${url} ${headers.authorization ?? '-'}`)
    const token = { access_token: 'token', token_type: 'Bearer', expires_in: 3600 }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(url === '/token' ? token : {}))
  }
  const server = createServer(respond).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
})

afterEach(async () => {
  globalThis.fetch = plain
  await stop()
})

const providerOf = (clientId = 'id') =>
  clientCredentials({ tokenEndpoint: `${origin}/token`, clientId, clientSecret: 'secret' })

describe('a fetch with tokens that replaces the global fetch', () => {
  it('sends with the one that it has replaced, and the token request without a token', async () => {
    globalThis.fetch = createTokenFetch(providerOf(), { allowedOrigins: [origin] })
    expect((await fetch(`${origin}/orders`)).status).toBe(200)
    expect(received).toEqual(['/token -', '/orders Bearer token'])
  })

  it('can be replaced by another one', async () => {
    const first = createTokenFetch(providerOf('first'), { allowedOrigins: ['https://other.example'] })
    globalThis.fetch = first
    globalThis.fetch = createTokenFetch(providerOf('second'), { allowedOrigins: [origin] })
    expect((await fetch(`${origin}/orders`)).status).toBe(200)
    expect((await first(`${origin}/plain`)).status).toBe(200)
    expect(received).toEqual(['/token -', '/orders Bearer token', '/plain -'])
  })

  it('can be wrapped by instrumentation', async () => {
    const wrapped = createTokenFetch(providerOf(), { allowedOrigins: [origin] })
    const seen: string[] = []
    globalThis.fetch = async (input, init) => {
      seen.push(new Request(input).url)
      return wrapped(input, init)
    }
    expect((await fetch(`${origin}/orders`)).status).toBe(200)
    expect((await wrapped(`${origin}/items`)).status).toBe(200)
    expect(received).toEqual(['/token -', '/orders Bearer token', '/items Bearer token'])
    expect(seen).toContain(`${origin}/items`)
  })

  it('can be wrapped by code that passes on only what it knows', async () => {
    const wrapped = createTokenFetch(createTestTokenProvider(), { allowedOrigins: [origin] })
    globalThis.fetch = (input, { method, headers, body } = {}) => {
      const known = { ...(method && { method }), ...(headers && { headers }), ...(body && { body }) }
      return wrapped(input, known)
    }
    expect((await fetch(`${origin}/orders`)).status).toBe(200)
    expect(received).toEqual(['/orders Bearer test-token'])
  })

  it.each([
    ['passes on the options', (init?: RequestInit) => init],
    ['copies the options', (init?: RequestInit) => ({ ...init, headers: new Headers(init?.headers) })],
  ])('can be wrapped by instrumentation that waits and %s', async (_, optionsOf) => {
    const wrapped = createTokenFetch(providerOf(), { allowedOrigins: [origin] })
    let calls = 0
    globalThis.fetch = async (input, init) => {
      calls++
      await Promise.resolve()
      return wrapped(input, optionsOf(init))
    }
    expect((await fetch(`${origin}/orders`)).status).toBe(200)
    expect(received).toEqual(['/token -', '/orders Bearer token'])
    // Each of the two requests passes it on the way in and on the way out.
    expect(calls).toBe(4)
  })

  it('can be wrapped, together with the one that it has replaced, by instrumentation that waits', async () => {
    globalThis.fetch = createTokenFetch(providerOf('first'), { allowedOrigins: ['https://other.example'] })
    const second = createTokenFetch(providerOf('second'), { allowedOrigins: [origin] })
    globalThis.fetch = async (input, init) => {
      await Promise.resolve()
      return second(input, init)
    }
    expect((await fetch(`${origin}/orders`)).status).toBe(200)
    expect(received).toEqual(['/token -', '/orders Bearer token'])
  })

  it('uses the global fetch of the moment, such as that of a test', async () => {
    const apiFetch = createTokenFetch(providerOf(), { allowedOrigins: [origin] })
    await apiFetch(`${origin}/orders`)
    globalThis.fetch = async () => new Response('mocked')
    expect(await (await apiFetch(`${origin}/orders`)).text()).toBe('mocked')
  })
})

describe('a token request', () => {
  it.each(['a global fetch', 'an option'])(
    'does not wait for itself with a fetch with tokens as %s',
    async (way) => {
      const tokens = clientCredentials({
        tokenEndpoint: `${origin}/token`,
        clientId: 'id',
        clientSecret: 'secret',
        ...(way === 'an option' && { fetch: (input, init) => apiFetch(input, init) }),
      })
      const apiFetch = createTokenFetch(tokens, { allowedOrigins: [origin], fetch: plain })
      if (way === 'a global fetch') globalThis.fetch = apiFetch
      expect((await apiFetch(`${origin}/orders`)).status).toBe(200)
      expect(received).toEqual(['/token -', '/orders Bearer token'])
    },
  )

  const ownSource = (send: (url: string, init: RequestInit) => Promise<Response>): TokenSource => ({
    cacheKey: async () => 'own',
    async requestToken({ signal }) {
      const body = (await (await send(`${origin}/token`, { method: 'POST', signal })).json()) as {
        access_token: string
      }
      return { accessToken: body.access_token, tokenType: 'Bearer', expiresIn: 3600, scope: [] }
    },
  })

  it('of a source that sends through the client of its own provider carries no token', async () => {
    const pool = createTokenPool(() => createTokenProvider(ownSource((url, init) => apiFetch(url, init))))
    const tokens = pool.for('tenant')
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: [origin] })
    expect((await apiFetch(`${origin}/orders`)).status).toBe(200)
    expect(received).toEqual(['/token -', '/orders Bearer token'])
    await pool.close()
  })

  it('of a source that passes no signal on carries no token', async () => {
    const tokens = createTokenProvider(ownSource((url) => apiFetch(url, { method: 'POST' })))
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: [origin] })
    expect((await apiFetch(`${origin}/orders`)).status).toBe(200)
    expect(received).toEqual(['/token -', '/orders Bearer token'])
  })

  it('of a source that waits before it uses the client of its own provider fails with that cause', async () => {
    const tokens = createTokenProvider(
      ownSource(async (url) => {
        await Promise.resolve()
        return apiFetch(url, { method: 'POST' })
      }),
      { attemptTimeoutMs: 50, maxAttempts: 1 },
    )
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: [origin] })
    await expect(apiFetch(`${origin}/orders`)).rejects.toMatchObject({
      kind: 'unavailable',
      message:
        'The token source returned nothing within 0.05 s. ' +
        'If it sends its request with a client that attaches its own tokens, use another client in it.',
    })
  })

  it('of a source that uses the client of another provider carries the token of that one', async () => {
    const other = createTokenFetch(providerOf(), { allowedOrigins: [origin] })
    const tokens = createTokenProvider(ownSource((url, init) => other(url, init)))
    await tokens.getToken()
    expect(received).toEqual(['/token -', '/token Bearer token'])
  })

  it('that requires a token of its own provider fails at once, and says why', async () => {
    const tokens = createTokenProvider({
      cacheKey: async () => 'own',
      async requestToken({ signal }) {
        return (await tokens.getToken({ signal })).response
      },
    })
    await expect(tokens.getToken()).rejects.toMatchObject({
      kind: 'configuration',
      message: 'The token source requires a token of its own provider. Use another HTTP client in it.',
    })
  })
})
