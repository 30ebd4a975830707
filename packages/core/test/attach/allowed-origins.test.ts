import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTokenFetch, createTokenProvider, type AttachOptions } from '@tokenwell/core'
import { createTokenAttacher, type AttachRequest, type TokenAttacher } from '@tokenwell/core/adapter'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'
import { get, sendThrough } from './send-through.ts'

type AllowedOrigin = NonNullable<AttachOptions['allowedOrigins']>[number]

/** What a request is sent with, if it carries a token. */
const attach = async (attacher: TokenAttacher, request: AttachRequest) =>
  (await sendThrough(attacher, request)).attachments[0]

function attacherFor(...allowedOrigins: AllowedOrigin[]) {
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
  return createTokenAttacher(tokens, { allowedOrigins })
}

async function goesTo(allowed: AllowedOrigin[], url: string | URL): Promise<boolean> {
  const attacher = attacherFor(...allowed)
  const first = (await attach(attacher, get(url))) !== undefined
  // Cached results equal the first ones, for strings and for URL objects.
  expect((await attach(attacher, get(url))) !== undefined).toBe(first)
  if (URL.canParse(url)) expect((await attach(attacher, get(new URL(url)))) !== undefined).toBe(first)
  expect(await carriesToken(allowed, url)).toBe(first)
  return first
}

/** Whether a `fetch` with tokens sends one to a URL, after it has sent it to the first of the allowed origins. */
async function carriesToken(allowedOrigins: AllowedOrigin[], url: string | URL): Promise<boolean> {
  let carried = false
  const tokenFetch = createTokenFetch(createTokenProvider(sourceOf(new ScriptedEndpoint())), {
    allowedOrigins,
    async fetch(_input, init) {
      carried = new Headers(init?.headers).has('authorization')
      return new Response()
    },
  })
  const [origin] = allowedOrigins
  if (typeof origin === 'string') await tokenFetch(origin.replace('*', 'www'))
  await tokenFetch(url)
  return carried
}

const api = ['https://api.example.com']

describe('an exact origin', () => {
  it.each([
    'https://api.example.com',
    'https://api.example.com/',
    'https://api.example.com/path?query=https://evil.example.net#fragment',
    'https://api.example.com?query',
    'https://api.example.com#fragment',
    'https://api.example.com:443/',
    'HTTPS://API.EXAMPLE.COM/',
    'https:\\\\api.example.com\\path',
    'https:api.example.com',
    ' https://api.example.com/ ',
    'https://user:password@api.example.com/',
    'https://api.example.com/\\@evil.example.net',
    'https://api.exa\tmple.com/',
    'https://%61pi.example.com/',
    'https://api.example.com//evil.example.net/',
    'https://api。example.com/',
  ])('allows a request to %j', async (url) => {
    expect(await goesTo(api, url)).toBe(true)
  })

  it.each([
    'http://api.example.com/',
    'https://api.example.com:444/',
    'https://api.example.com:80/',
    'https://api.example.com.evil.net/',
    'https://api.example.com./',
    'https://evil.net/https://api.example.com/',
    'https://api.example.com@evil.net/',
    'https://api.example.com:443@evil.net/',
    'https://api.example.com%2f@evil.net/',
    'https://evil.net\\@api.example.com/',
    'https://evil.net#@api.example.com/',
    'https://evil.net?@api.example.com/',
    'https://api.example.com\u3002evil.net/',
    'https://api.example.com\t.evil.net/',
    'https://api.example.com\n.evil.net/',
    'https://xapi.example.com/',
    'https://api-example.com/',
    'https://apiXexample.com/',
    'https://example.com/',
    'https://sub.api.example.com/',
    'https://аpi.example.com/',
    'wss://api.example.com/',
    'ftp://api.example.com/',
    'blob:https://api.example.com/0',
    'data:text/plain,https://api.example.com/',
    'file:///api.example.com/',
    'about:blank',
    'https://',
    'https:///',
    '',
    '/path',
    '//api.example.com/',
    'api.example.com',
    'null',
  ])('does not allow a request to %j', async (url) => {
    expect(await goesTo(api, url)).toBe(false)
  })

  it.each([
    [['https://api.example.com/'], 'https://api.example.com/x', true],
    [['https://API.example.com:443'], 'https://api.example.com/x', true],
    [['https://api.example.com:8443'], 'https://api.example.com:8443/x', true],
    [['https://api.example.com:8443'], 'https://api.example.com/x', false],
    [['http://localhost:3000'], 'http://localhost:3000/x', true],
    [['http://localhost:3000'], 'http://localhost:3001/x', false],
    [['http://[::1]:3000'], 'http://[0:0:0:0:0:0:0:1]:3000/x', true],
    [['http://127.0.0.1'], 'http://0x7f.1/', true],
    [['http://127.10.20.30'], 'http://127.10.20.30/', true],
    [['https://a.example.com', 'https://b.example.com'], 'https://b.example.com/', true],
    [['https://münchen.example'], 'https://xn--mnchen-3ya.example/', true],
  ])('%j, request to %s: %s', async (allowed, url, expected) => {
    expect(await goesTo(allowed, url)).toBe(expected)
  })
})

describe('the wildcard origin https://*.example.com', () => {
  it.each([
    ['https://api.example.com/', true],
    ['https://a.b.c.example.com/', true],
    ['HTTPS://API.EXAMPLE.COM/', true],
    ['https://example.com/', false],
    ['https://evilexample.com/', false],
    ['https://api.example.com.evil.net/', false],
    ['https://api.example.com:8443/', false],
    ['http://api.example.com/', false],
    ['https://api.example.com@evil.net/', false],
    ['https://*.example.com/', false],
    ['https://example.com.api.example.org/', false],
  ])('%s: %s', async (url, expected) => {
    // The URL parser accepts an asterisk in a host name, but no such host exists.
    if (url.includes('*')) return
    expect(await goesTo(['https://*.example.com'], url)).toBe(expected)
  })

  it('allows only the configured port', async () => {
    expect(await goesTo(['https://*.example.com:8443'], 'https://api.example.com:8443/')).toBe(true)
    expect(await goesTo(['https://*.example.com:8443'], 'https://api.example.com/')).toBe(false)
    expect(await goesTo(['https://*.example.co.uk'], 'https://api.example.co.uk/')).toBe(true)
    expect(await goesTo(['http://*.localhost:3000'], 'http://tenant.localhost:3000/')).toBe(true)
  })

  it('allows only the configured scheme', async () => {
    expect(await goesTo(['https://*.localhost'], 'http://tenant.localhost/')).toBe(false)
  })
})

describe('a relative URL', () => {
  it.each([
    ['a page', { document: { baseURI: 'https://api.example.com/app/' } }],
    ['a worker', { location: { href: 'https://api.example.com/worker.js' } }],
  ])('belongs to the origin of %s', async (_name, globals) => {
    const [own, other] = [attacherFor(...api), attacherFor('https://other.example.com')]
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
    onTestFinished(() => void vi.unstubAllGlobals())
    expect(await attach(own, get('/path'))).toBeDefined()
    expect(await attach(other, get('/path'))).toBeUndefined()
    expect(await attach(other, get('//other.example.com/'))).toBeDefined()
    expect(await attach(own, get('/login?next=https://other.example.com/'))).toBeDefined()
  })
})

describe('an origin function', () => {
  it('allows only the URLs for which it returns true', async () => {
    const allows = (url: URL): boolean => url.pathname.startsWith('/v1/')
    expect(await goesTo([allows], 'https://api.example.com/v1/x')).toBe(true)
    expect(await goesTo([allows], 'https://api.example.com/v2/x')).toBe(false)
    expect(await goesTo([allows, ...api], 'https://api.example.com/v2/x')).toBe(true)
    expect(await goesTo([...api, allows], 'https://other.example.com/v1/x')).toBe(true)
  })

  it.each([
    'ftp://localhost/',
    'ws://localhost/',
    'http://api.example.com/',
    'blob:https://api.example.com/0',
  ])('is not asked about %s, to which no token may be sent', async (url) => {
    expect(await goesTo([() => true], url)).toBe(false)
  })

  it.each([['yes'], [1], [{}], [Promise.resolve(true)], [undefined]])(
    'does not count %j as true',
    async (returned) => {
      expect(await goesTo([(() => returned) as never], 'https://api.example.com/')).toBe(false)
    },
  )

  it('fails the request if it throws', async () => {
    const attacher = attacherFor(() => {
      throw new Error('no idea')
    })
    const attaching = async () => attach(attacher, get('https://api.example.com/'))
    await expect(attaching()).rejects.toThrow('no idea')
  })
})

describe('an invalid origin', () => {
  it.each([
    'https://api.example.com/path',
    'https://api.example.com/?query',
    'https://api.example.com/#fragment',
    'https://user@api.example.com',
    'https://:password@api.example.com',
    'https://*',
    'https://*.com',
    'https://*.',
    'https://api.*.com',
    'https://*api.example.com',
    'https://**.example.com',
    'https://*.*.example.com',
    'https://*.example.com\n.example.net',
    'xhttps://*.example.com',
    '*',
    '*.example.com',
    'api.example.com',
    '//api.example.com',
    'ftp://api.example.com',
    'file:///',
    'null',
    '',
    ' ',
    undefined,
    null,
    42,
    /example\.com/,
    {},
    new URL('https://api.example.com/path'),
  ])('such as %j is rejected when the attacher is created', (origin) => {
    expect(() => attacherFor(origin as never)).toThrow(
      expect.objectContaining({
        name: 'TokenError',
        kind: 'configuration',
        message: expect.stringContaining('allowedOrigins') as string,
      }),
    )
  })

  it('that contains more than an origin is explained', () => {
    const problem = (shown: string) =>
      `allowedOrigins[0]${shown} is not a valid origin. Set only scheme, host and port: `
    expect(() => attacherFor('https://api.example.com/path?key=secret')).toThrow(
      `${problem(' "https://api.example.com/path"')}'https://api.example.com', which is new URL(url).origin.`,
    )
    const example = "such as 'https://api.example.com' or 'https://*.example.com'."
    expect(() => attacherFor('api.example.com')).toThrow(problem(' "api.example.com"') + example)
    expect(() => attacherFor('user:secret@api.example.com')).toThrow(problem('') + example)
  })

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['', 'empty'],
  ])('that is %j, such as from an unset environment variable, is explained', (origin, what) => {
    const message =
      `allowedOrigins[1] is ${what}. Set the environment variable that it comes from, ` +
      'or pass a function of the URL, which is called for each request.'
    expect(() => attacherFor(...api, origin as never)).toThrow(message)
  })

  it('that starts with http:// is explained', () => {
    const message =
      'allowedOrigins[1] must start with https://, because tokens are sent to it. ' +
      'Inside a trusted network, set allowInsecureRequests: true.'
    expect(() => attacherFor(...api, 'http://api.example.com')).toThrow(message)
  })

  it('is not quoted in the error, because it may contain a password', () => {
    expect(() => attacherFor('https://user:canary@api.example.com')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('canary') as string }),
    )
  })
})

it('caches a limited number of origins, without an effect on the result', async () => {
  const attacher = attacherFor('https://*.example.com')
  for (let host = 0; host < 2_000; host++) {
    expect(await attach(attacher, get(`https://h${host}.example.com/`))).toBeDefined()
    expect(await attach(attacher, get(`https://h${host}.example.net/`))).toBeUndefined()
  }
  expect(await attach(attacher, get('https://h0.example.com/'))).toBeDefined()
  expect(await attach(attacher, get('https://h0.example.net/'))).toBeUndefined()
})
