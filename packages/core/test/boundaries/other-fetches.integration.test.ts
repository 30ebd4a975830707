import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { backendTokens, clientCredentials, type FetchLike, type TokenProvider } from '@tokenwell/core'

afterEach(() => void vi.unstubAllGlobals())

const issued = { access_token: 'issued', token_type: 'Bearer', expires_in: 300 }
const client = { clientId: 'orders', clientSecret: 'the secret & more' }
const settings = { maxAttempts: 1 }
const providers: [string, (fetch: FetchLike) => TokenProvider][] = [
  [
    'authUrl',
    (fetch) => clientCredentials({ ...client, ...settings, authUrl: 'https://auth.example', fetch }),
  ],
  [
    'tokenEndpoint',
    (fetch) =>
      clientCredentials({ ...client, ...settings, tokenEndpoint: 'https://auth.example/token', fetch }),
  ],
  ['issuer', (fetch) => clientCredentials({ ...client, ...settings, issuer: 'https://auth.example', fetch })],
  ['a backend', (fetch) => backendTokens({ ...settings, url: new URL('https://auth.example/token'), fetch })],
]

describe('a fetch of a test', () => {
  it.each(providers)('is called with strings, for %s', async (_, create) => {
    const fetch = vi.fn(async (url: string) =>
      url.includes('/.well-known/')
        ? Response.json({ issuer: 'https://auth.example', token_endpoint: 'https://auth.example/token' })
        : Response.json(issued),
    )
    const token = await create(fetch).getToken()
    expect(token.value).toBe('issued')
    for (const [url] of fetch.mock.calls) expect(url).toBeTypeOf('string')
  })

  it.each(providers)('has its own mistake named in the error, for %s', async (_, create) => {
    const fetch = () => {
      throw new TypeError('Cannot read properties of\nundefined (reading "body")')
    }
    const tokens = create(fetch)
    await expect(tokens.getToken()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('(TypeError: Cannot read properties of undefined (reading "body"))'),
    })
  })

  const failures: [string, Error, string][] = [
    [
      'what was sent',
      new Error(`unexpected body: ${new URLSearchParams(client)}`),
      'Error: unexpected body: clientId=orders&clientSecret=[redacted]',
    ],
    [
      'what was sent in a cause',
      new Error('failed', { cause: new Error(`no ${client.clientSecret}`) }),
      'Error: no [redacted]',
    ],
    ['a header', new TypeError('Header "x-tenant" is not valid: 7'), 'TypeError'],
    ['a long text', new Error('x '.repeat(300)), `Error: ${'x '.repeat(99)}x…`],
    ['a code beside a text', Object.assign(new Error('secret text'), { code: 'ECONNRESET' }), 'ECONNRESET'],
  ]
  it.each(failures)('does not show %s', async (_, thrown, detail) => {
    const fetch = () => Promise.reject(thrown)
    const tokenEndpoint = 'https://auth.example/token'
    const tokens = clientCredentials({ ...client, ...settings, tokenEndpoint, fetch })
    await expect(tokens.getToken()).rejects.toMatchObject({
      message: `Could not reach the token endpoint https://auth.example/token (${detail}).`,
    })
  })
})

describe('a fetch that reports no codes', () => {
  // Deno 2 and workerd.
  const texts: [string, string][] = [
    [
      'error sending request for url (https://a.test/): client error (Connect): dns error: failed to lookup address',
      'ENOTFOUND',
    ],
    [
      'error sending request for url (https://a.test/): client error (Connect): tcp connect error: Connection refused (os error 111)',
      'ECONNREFUSED',
    ],
    [
      'error sending request: client error (SendRequest): connection closed before message completed',
      'ECONNRESET',
    ],
    [
      'client error (Connect): received corrupt message of type InvalidContentType',
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ],
    ['client error (Connect): invalid peer certificate: UnknownIssuer', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['client error (Connect): invalid peer certificate: Expired', 'CERT_HAS_EXPIRED'],
    ['client error (Connect): invalid peer certificate: NotValidForName', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['Network connection lost.', 'ECONNRESET'],
    ['DNS lookup failed.', 'ENOTFOUND'],
  ]
  it.each(texts)('is read as Node reports it: %s', async (text, code) => {
    const fetch = () => Promise.reject(new TypeError(text))
    const tokenEndpoint = 'https://auth.example/token'
    const tokens = clientCredentials({ ...client, ...settings, tokenEndpoint, fetch })
    await expect(tokens.getToken()).rejects.toMatchObject({
      message: expect.stringContaining(`(${code}).`),
      cause: { code },
    })
  })
})

it('gets a token where AbortController is not that of fetch, as in jsdom', async () => {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(issued))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  class Signal extends EventTarget {
    aborted = false
    throwIfAborted(): void {}
  }
  class Controller {
    signal = new Signal()
    abort(): void {}
  }
  Object.defineProperty(Signal, 'name', { value: 'AbortSignal' })
  vi.stubGlobal('AbortController', Controller)
  vi.stubGlobal('AbortSignal', Signal)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  await expect(fetch(url, { signal: new AbortController().signal })).rejects.toThrow(TypeError)
  const tokens = backendTokens({ ...settings, url })
  expect((await tokens.getToken()).value).toBe('issued')
})

it('retries at once and reports the failure where setTimeout calls back at once', async () => {
  vi.stubGlobal('setTimeout', (callback: () => void) => (callback(), {}))
  const fetch = vi.fn(async () => Response.json({}, { status: 503 }))
  const tokens = clientCredentials({ ...client, tokenEndpoint: 'https://auth.example/token', fetch })
  await expect(tokens.getToken()).rejects.toMatchObject({
    kind: 'unavailable',
    status: 503,
    attempts: 3,
  })
  expect(fetch).toHaveBeenCalledTimes(3)
})
