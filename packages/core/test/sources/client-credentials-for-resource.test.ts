import {
  clientCredentialsForResource,
  createMemoryTokenStore,
  createTokenFetch,
  createTokenPool,
  jwtBearer,
  type AttachOptions,
  type TokenEvent,
  type TokenFetch,
  type TokenProviderOptions,
} from '@tokenwell/core'
import { cacheKeyOf } from '../support/observe-keys.ts'
import { describe, expect, it, vi } from 'vitest'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'

type TokenFetchInit = NonNullable<Parameters<TokenFetch>[1]>
type ResourceClientCredentialsOptions = Parameters<typeof clientCredentialsForResource>[0]

useFakeTime()

const resource = 'https://mcp.example.com/mcp'
const origin = 'https://mcp.example.com'
const wellKnown = `${origin}/.well-known/oauth-protected-resource/mcp`
const root = `${origin}/.well-known/oauth-protected-resource`
const issuer = 'https://auth.example.com'
const oauth = `${issuer}/.well-known/oauth-authorization-server`
const secret = 'a-secret-of-the-client'

const metadata = (changes: object = {}) => ({ resource, authorization_servers: [issuer], ...changes })
const serverMetadata = (changes: object = {}) => ({ issuer, token_endpoint: `${issuer}/token`, ...changes })

interface Sent {
  readonly url: string
  readonly method: string
  readonly text: string
  readonly form: URLSearchParams
}

type Page = object | string | number | (() => Response | Promise<Response>) | undefined
type Pages = Record<string, Page>

/** An API with its authorization server, on a `fetch` of its own that records everything it is sent. */
function start(
  pages: Pages = {},
  options: Partial<ResourceClientCredentialsOptions> = {},
  settings: TokenProviderOptions = {},
) {
  const sent: Sent[] = []
  const served: Pages = { [wellKnown]: metadata(), [oauth]: serverMetadata(), ...pages }
  let tokens = 0
  const respond = async (page: Page): Promise<Response> => {
    if (page === undefined) return new Response('', { status: 404 })
    if (typeof page === 'number') return new Response('', { status: page, headers: { location: issuer } })
    if (typeof page === 'function') return page()
    return typeof page === 'string' ? new Response(page) : Response.json(page)
  }
  const fetch = vi.fn(async (input: string | URL | Request, init: RequestInit = {}) => {
    const url = String(input instanceof Request ? input.url : input)
    const headers = new Headers(init.headers)
    const { method = 'GET' } = init
    const body = typeof init.body === 'string' ? init.body : ''
    const text = `${url} ${JSON.stringify([...headers])} ${body}`
    sent.push({ url, method, text, form: new URLSearchParams(body) })
    if (url in served) return respond(served[url])
    if (method !== 'POST') return respond(undefined)
    return Response.json({ access_token: `token-${++tokens}`, expires_in: 600 })
  })
  const events: TokenEvent[] = []
  const create = (further: TokenProviderOptions = {}) =>
    clientCredentialsForResource({
      protectedResource: resource,
      trustedIssuers: [issuer],
      clientId: 'client',
      clientSecret: secret,
      fetch,
      maxAttempts: 1,
      onEvent: (event) => events.push(event),
      ...options,
      ...settings,
      ...further,
    })
  const provider = create()
  /** Where the secret went. */
  const secretsTo = () => sent.filter(({ text }) => /a-secret|Y2xpZW50/.test(text)).map(({ url }) => url)
  const forms = () => sent.filter(({ method }) => method === 'POST').map(({ form }) => form)
  return { served, sent, create, provider, events, secretsTo, forms, fetch }
}

const challenge = (parameters: string) => () =>
  new Response('', { status: 401, headers: { 'www-authenticate': `Bearer ${parameters}` } })
const urls = (sent: readonly Sent[]) => sent.map(({ url }) => url)

describe('the issuer', () => {
  it('is found at the well-known address of a resource that sends no challenge', async () => {
    const { provider, sent, forms } = start()
    await expect(provider.getToken()).resolves.toMatchObject({ value: 'token-1' })
    expect(urls(sent)).toEqual([resource, wellKnown, oauth, `${issuer}/token`])
    expect(Object.fromEntries(forms()[0]!)).toEqual({
      grant_type: 'client_credentials',
      resource,
    })
  })

  it('is found by the metadata that the challenge names', async () => {
    const other = `${origin}/metadata.json`
    const { provider, sent } = start({
      [resource]: challenge(`realm="mcp", resource_metadata="${other}", scope="tools"`),
      [other]: metadata({ scopes_supported: ['all'] }),
    })
    await provider.getToken()
    expect(urls(sent)).toEqual([resource, other, oauth, `${issuer}/token`])
  })

  it.each<[string, string]>([
    ['https://api.example.com', 'https://api.example.com/.well-known/oauth-protected-resource'],
    ['https://api.example.com/', 'https://api.example.com/.well-known/oauth-protected-resource'],
    ['https://api.example.com/a/', 'https://api.example.com/.well-known/oauth-protected-resource/a'],
    ['https://api.example.com/a?b=c', 'https://api.example.com/.well-known/oauth-protected-resource/a?b=c'],
    ['http://127.0.0.1:3000/mcp', 'http://127.0.0.1:3000/.well-known/oauth-protected-resource/mcp'],
  ])('of %s is looked up at %s', async (protectedResource, address) => {
    const { provider, sent, forms } = start(
      { [address]: metadata({ resource: protectedResource }) },
      { protectedResource },
    )
    await provider.getToken()
    expect(urls(sent)).toContain(address)
    expect(forms()[0]!.get('resource')).toBe(protectedResource)
  })

  it('is the first that the application trusts, asked with the exact string before any request to it', async () => {
    const named = ['https://first.example.com', `${issuer}/`, issuer, 'https://last.example.com']
    const calls: string[] = []
    const { provider, sent, secretsTo } = start(
      { [wellKnown]: metadata({ authorization_servers: named }) },
      { trustedIssuers: (one) => calls.push(one) > 0 && sent.length === 2 && one === issuer },
    )
    await provider.getToken()
    expect(calls).toEqual(named.slice(0, 3))
    expect(secretsTo()).toEqual([`${issuer}/token`])
    expect(urls(sent).filter((url) => !url.startsWith(origin) && !url.startsWith(`${issuer}/`))).toEqual([])
  })

  it('can change, and stays the last one while the metadata is unavailable', async () => {
    const next = 'https://next.example.com'
    const { provider, served, sent } = start(
      {
        [`${next}/.well-known/oauth-authorization-server`]: { issuer: next, token_endpoint: `${next}/token` },
      },
      { trustedIssuers: [issuer, next] },
    )
    await provider.getToken()
    served[wellKnown] = metadata({ authorization_servers: [next] })
    await provider.getToken({ forceRefresh: true })
    expect(sent.at(-1)!.url).toBe(`${next}/token`)
    served[wellKnown] = 503
    await provider.getToken({ forceRefresh: true })
    expect(sent.at(-1)!.url).toBe(`${next}/token`)
    served[wellKnown] = 404
    await expect(provider.getToken({ forceRefresh: true })).rejects.toThrow(
      `Could not find the issuer of ${resource}: ${wellKnown} responded with status 404; ${root} responded with status 404.`,
    )
  })

  it('says how clients authenticate', async () => {
    const { provider, sent, forms } = start({
      [oauth]: serverMetadata({ token_endpoint_auth_methods_supported: ['client_secret_basic'] }),
    })
    await provider.getToken()
    expect(forms()[0]!.has('client_secret')).toBe(false)
    expect(sent.at(-1)!.text).toContain(`Basic ${btoa(`client:${secret}`)}`)
  })

  it('is the audience of an assertion', async () => {
    const authenticate = vi.fn()
    const { provider } = start(
      {},
      { clientSecret: undefined, clientAuthentication: { authenticate, fingerprint: () => 'key' } as never },
    )
    await provider.getToken()
    expect(authenticate).toHaveBeenCalledWith(expect.objectContaining({ issuer, clientId: 'client' }))
  })
})

describe('hostile metadata', () => {
  const huge = () => new Response(`{"resource":"${resource}","x":"${'x'.repeat(2 ** 20)}"}`)
  const slow = () => new Promise<Response>(() => {})
  const endless = () =>
    new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(2 ** 16)) }))
  const redirect = (status: number, location: string) => () =>
    new Response('', { status, headers: { location } })
  const evil = 'https://evil.example.net'

  it.each<[string, Pages, Partial<ResourceClientCredentialsOptions>?]>([
    ['names another resource', { [wellKnown]: metadata({ resource: 'https://bank.example.com/mcp' }) }],
    ['names its origin alone', { [wellKnown]: metadata({ resource: origin }) }],
    ['names another path', { [wellKnown]: metadata({ resource: `${origin}/mcp2` }) }],
    ['names no resource', { [wellKnown]: metadata({ resource: undefined }) }],
    ['names a list of resources', { [wellKnown]: metadata({ resource: [resource] }) }],
    ['names an untrusted issuer', { [wellKnown]: metadata({ authorization_servers: [evil] }) }],
    [
      'names a trusted issuer with a slash',
      { [wellKnown]: metadata({ authorization_servers: [`${issuer}/`] }) },
    ],
    [
      'names a trusted issuer in capitals',
      { [wellKnown]: metadata({ authorization_servers: ['https://AUTH.example.com'] }) },
    ],
    ['names a longer host', { [wellKnown]: metadata({ authorization_servers: [`${issuer}.evil.net`] }) }],
    [
      'names a user before the host',
      { [wellKnown]: metadata({ authorization_servers: [`${issuer}@evil.example.net`] }) },
    ],
    [
      'names the issuer over plain HTTP',
      { [wellKnown]: metadata({ authorization_servers: ['http://auth.example.com'] }) },
    ],
    [
      'names a private address',
      { [wellKnown]: metadata({ authorization_servers: ['http://169.254.169.254'] }) },
    ],
    ['names loopback', { [wellKnown]: metadata({ authorization_servers: ['http://127.0.0.1:6379'] }) }],
    ['names a list within a list', { [wellKnown]: metadata({ authorization_servers: [[issuer]] }) }],
    ['names objects', { [wellKnown]: metadata({ authorization_servers: [{ toString: issuer }] }) }],
    ['names a string in place of a list', { [wellKnown]: metadata({ authorization_servers: issuer }) }],
    ['names no issuer', { [wellKnown]: metadata({ authorization_servers: [] }) }],
    [
      'has a token endpoint of its own',
      { [wellKnown]: metadata({ authorization_servers: undefined, token_endpoint: `${evil}/token` }) },
    ],
    ['redirects with 301', { [wellKnown]: redirect(301, `${evil}/metadata`) }],
    ['redirects with 307', { [wellKnown]: redirect(307, `${evil}/metadata`) }],
    ['redirects to itself', { [wellKnown]: redirect(302, wellKnown) }],
    ['is not JSON', { [wellKnown]: '<html>' }],
    ['is null', { [wellKnown]: 'null' }],
    ['is a list', { [wellKnown]: JSON.stringify([metadata()]) }],
    ['is huge', { [wellKnown]: huge }],
    ['does not end', { [wellKnown]: endless }],
    ['does not arrive', { [wellKnown]: slow }],
    [
      'is at another origin',
      { [resource]: challenge(`resource_metadata="${evil}/metadata"`), [`${evil}/metadata`]: metadata() },
    ],
    ['is at another port', { [resource]: challenge(`resource_metadata="${origin}:8443/metadata"`) }],
    ['is at plain HTTP', { [resource]: challenge('resource_metadata="http://mcp.example.com/metadata"') }],
    [
      'is at a user of its origin',
      { [resource]: challenge('resource_metadata="https://mcp.example.com@evil.example.net/"') },
    ],
    ['is at a file', { [resource]: challenge('resource_metadata="file:///etc/passwd"') }],
    ['is at a relative address', { [resource]: challenge('resource_metadata="/metadata"') }],
    [
      'is behind a redirect of the resource',
      { [resource]: redirect(302, `${evil}/mcp`), [wellKnown]: undefined },
    ],
    ['issuer names another issuer', { [oauth]: serverMetadata({ issuer: evil }) }],
    ['issuer redirects', { [oauth]: redirect(302, `${evil}/metadata`) }],
    [
      'issuer has a token endpoint over plain HTTP',
      { [oauth]: serverMetadata({ token_endpoint: 'http://auth.example.com/token' }) },
    ],
    ['is trusted by a truthy value alone', {}, { trustedIssuers: (() => 'yes') as never }],
    [
      'meets a function that throws',
      {},
      {
        trustedIssuers: () => {
          throw new Error(secret)
        },
      },
    ],
  ])('that %s gets no credentials', async (_, pages, options) => {
    const { provider, sent, secretsTo } = start(pages, options)
    const result = provider.getToken().catch((error: unknown) => error)
    await pass(60_000)
    const error = (await result) as Error
    expect(error).toMatchObject({ name: 'TokenError' })
    expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(secret)
    expect(secretsTo()).toEqual([])
    // Nothing at all goes to a host that nobody trusts.
    const hosts = urls(sent).map((url) => new URL(url).origin)
    expect(hosts.filter((host) => host !== origin && host !== issuer)).toEqual([])
  })
})

describe('options', () => {
  it.each<[object, string]>([
    [{ protectedResource: 'mcp' }, 'protectedResource is not a valid URL'],
    [{ protectedResource: 'http://mcp.example.com' }, 'protectedResource must start with https://'],
    [{ protectedResource: 'https://mcp.example.com#x' }, 'protectedResource must not contain'],
    [{ trustedIssuers: undefined }, 'trustedIssuers must be a list of issuers or a function.'],
    [{ trustedIssuers: issuer }, 'trustedIssuers must be a list of issuers or a function.'],
    [{ issuer }, 'mutually exclusive'],
    [{ tokenEndpoint: `${issuer}/token` }, 'mutually exclusive'],
    [{ authUrl: issuer }, 'mutually exclusive'],
    [{ resource: 'https://other.example.com' }, 'resource must be protectedResource'],
    [{ clientId: '' }, 'clientId is missing'],
    [{ clientSecret: undefined }, 'clientSecret is missing'],
  ])('%j are rejected', (options, message) => {
    expect(() => start({}, options)).toThrow(message)
  })

  it('show no secret', () => {
    const { provider } = start()
    expect(JSON.stringify(provider)).toBe(
      `{"source":{"protectedResource":"${resource}","clientId":"client"}}`,
    )
  })
})

describe('scopes', () => {
  const supported = { [wellKnown]: metadata({ scopes_supported: ['read', 'write'] }) }
  const challenged = { [resource]: challenge('scope="read admin"') }

  it.each<[string, Pages, string | undefined, string | null]>([
    ['nothing, if nobody names any', {}, undefined, null],
    ['scopes_supported', supported, undefined, 'read write'],
    ['those of the challenge', { ...supported, ...challenged }, undefined, 'read admin'],
    ['those of the application, if nobody else names any', {}, 'read', 'read'],
    ['of scopes_supported, those that the application allows', supported, 'write delete', 'write'],
    ['of the challenge, those that the application allows', challenged, 'read write', 'read'],
    ['those of the application, if it allows none that are required', supported, 'other', 'other'],
  ])('requested: %s', async (_, pages, scope, requested) => {
    const { provider, forms } = start(pages, { scope })
    await provider.getToken()
    expect(forms()[0]!.get('scope')).toBe(requested)
  })

  const insufficient = (scope: string) =>
    new Response('', {
      status: 403,
      headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    })

  /** An API whose calls require the scope in their path; `granted` is what the authorization server issues. */
  function startApi(
    options: Partial<ResourceClientCredentialsOptions> = {},
    settings?: TokenProviderOptions,
  ) {
    const denied = new Set<string>()
    const revoked = new Set<string>()
    const started = start(
      {
        [resource]: challenge('scope="read"'),
        [`${issuer}/token`]: () => {
          const scope = started.forms().at(-1)!.get('scope')!
          return scope.split(' ').some((one) => denied.has(one))
            ? Response.json({ error: 'invalid_scope' }, { status: 400 })
            : Response.json({
                access_token: `${scope} ${started.sent.length}`.replaceAll(' ', '.'),
                expires_in: 600,
              })
        },
      },
      options,
      settings,
    )
    const calls: string[] = []
    const send = async (input: string | URL | Request, init?: RequestInit) => {
      const required = new URL(input instanceof Request ? input.url : input).pathname.split('/')[2]!
      const token = new Headers(init?.headers).get('authorization')?.replace('Bearer ', '')
      if (token === undefined) return challenge('scope="read"')()
      calls.push(token.replace(/\.\d+$/, ''))
      if (revoked.has(token)) return new Response('', { status: 401 })
      return token.split('.').includes(required) ? new Response(token) : insufficient(required)
    }
    const apiFetch = createTokenFetch(started.provider, { allowedOrigins: [origin], fetch: send })
    const call = async (scope: string, init?: object) => (await apiFetch(`${resource}/${scope}`, init)).status
    return { ...started, calls, call, send, denied, revoked, apiFetch }
  }

  it('are widened once after a 403, without rejecting the cached token', async () => {
    const { call, calls, provider, events, forms } = startApi()
    expect(await call('read')).toBe(200)
    const before = provider.peekToken()!
    expect(await call('write')).toBe(200)
    expect(calls).toEqual(['read', 'read', 'read.write'])
    expect(forms().map((form) => form.get('scope'))).toEqual(['read', 'read write'])
    // Later requests do not meet the 403 again.
    expect(await call('write')).toBe(200)
    expect(calls).toHaveLength(4)
    expect(events.filter(({ type }) => type === 'token_rejected')).toEqual([])
    expect(events.filter(({ type }) => type === 'token_received')).toHaveLength(2)
    // From then on, every call gets the wider token.
    expect(provider.peekToken()?.value).toMatch(/^read\.write/)
    expect(await provider.getToken()).not.toBe(before)
  })

  it('are requested once for all requests that need them', async () => {
    const { call, forms } = startApi()
    await call('read')
    expect(await Promise.all(Array.from({ length: 50 }, () => call('write')))).toEqual(Array(50).fill(200))
    expect(forms()).toHaveLength(2)
  })

  it('never exceed what the application allows', async () => {
    const { call, forms } = startApi({ scope: 'read write' })
    expect(await call('admin')).toBe(403)
    expect(await call('write')).toBe(200)
    expect(await call('admin')).toBe(403)
    expect(forms().map((form) => form.get('scope'))).toEqual(['read', 'read write'])
  })

  it.each([
    ['unavailable', () => new Promise<never>(() => {}), 2_000],
    ['unavailable', async () => new Response('', { status: 503 }), 0],
  ])(
    'keep their token in use while the token endpoint is down (%s), within one deadline',
    async (kind, down, ms) => {
      const { call, provider, served } = startApi({}, { timeoutMs: 2_000, maxAttempts: 1 })
      await call('write')
      await pass(600_000)
      const issue = served[`${issuer}/token`]
      served[`${issuer}/token`] = down as never
      const started = performance.now()
      const failed = watch(provider.getToken())
      await pass(ms)
      expect(failed.error).toMatchObject({ kind })
      expect(performance.now() - started).toBe(ms)
      served[`${issuer}/token`] = issue
      await pass(60_000)
      expect((await provider.getToken()).value).toContain('read.write')
    },
  )

  it('that are no longer granted leave the rest of the one deadline to the narrower token', async () => {
    const { call, provider, served, forms } = startApi({}, { timeoutMs: 2_000, maxAttempts: 1 })
    await call('write')
    await pass(600_000)
    served[`${issuer}/token`] = async () => {
      if (forms().at(-1)!.get('scope') === 'read') return new Promise<never>(() => {})
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      return Response.json({ error: 'invalid_scope' }, { status: 400 })
    }
    const failed = watch(provider.getToken())
    await pass(1_999)
    expect(failed.state).toBe('pending')
    await pass(100)
    expect(failed.error).toMatchObject({ kind: 'unavailable' })
    expect(
      forms()
        .slice(-2)
        .map((form) => form.get('scope')),
    ).toEqual(['read write', 'read'])
  })

  it('that are not granted leave the narrower token in use', async () => {
    const { call, denied, forms } = startApi()
    denied.add('admin')
    for (let request = 0; request < 20; request++) expect(await call('admin')).toBe(403)
    expect(forms()).toHaveLength(2)
    expect(await call('read')).toBe(200)
    expect(await call('write')).toBe(200)
  })

  it('that are withdrawn later leave the narrower token in use', async () => {
    const { call, denied } = startApi()
    expect(await call('admin')).toBe(200)
    denied.add('admin')
    await pass(600_000)
    expect(await call('read')).toBe(200)
  })

  it('that are withdrawn with their token leave the narrower token in use', async () => {
    const { call, calls, denied, revoked, provider, forms } = startApi()
    await call('read')
    expect(await call('admin')).toBe(200)
    denied.add('admin')
    revoked.add(provider.peekToken()!.value)
    calls.length = 0
    expect(await call('read')).toBe(200)
    expect(await call('admin')).toBe(403)
    expect(await call('read')).toBe(200)
    expect(calls).toEqual(['read.admin', 'read', 'read', 'read'])
    expect(forms()).toHaveLength(3)
  })

  it('that an API invents cause a limited number of token requests', async () => {
    const { apiFetch, denied, forms, provider } = startApi()
    for (let n = 0; n < 200; n++) denied.add(`s${n}`)
    for (let n = 0; n < 200; n++) expect((await apiFetch(`${resource}/s${n}`)).status).toBe(403)
    expect(forms().length).toBeLessThan(30)
    await provider.close()
  })

  it('that are too many to send are an error, unless the application says which it needs', async () => {
    const many = Array.from({ length: 50_000 }, (_, n) => `scope${n}`)
    const pages = { [wellKnown]: metadata({ scopes_supported: many }) }
    const { provider, forms } = start(pages)
    await expect(provider.getToken()).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('it requires 50000 scopes, more than 200 or 8 KiB. Set scope.'),
    })
    expect(forms()).toEqual([])
    const limited = start(pages, { scope: 'scope7' })
    await limited.provider.getToken()
    expect(limited.forms()[0]!.get('scope')).toBe('scope7')
    const long = start({ [wellKnown]: metadata({ scopes_supported: ['x'.repeat(8_193)] }) })
    await expect(long.provider.getToken()).rejects.toThrow('more than 200 or 8 KiB')
  })

  it('that grow with each response stay below 8 KiB', async () => {
    const started = start({ [wellKnown]: metadata({ scopes_supported: ['read'] }) })
    let count = 0
    const apiFetch = createTokenFetch(started.provider, {
      allowedOrigins: [origin],
      fetch: async () => insufficient(`${++count}-${'x'.repeat(3_000)}`),
    })
    for (let call = 0; call < 20; call++) expect((await apiFetch(resource)).status).toBe(403)
    const longest = Math.max(...started.forms().map((form) => form.get('scope')!.length))
    expect(longest).toBeGreaterThan(3_000)
    expect(longest).toBeLessThanOrEqual(8 * 1024)
  })

  it('are not widened for a request that cannot be repeated, or with retryOnRejection: false', async () => {
    const { provider, send, call, forms } = startApi()
    const body = new ReadableStream({ start: (stream) => stream.close() })
    expect(await call('write', { method: 'POST', body, duplex: 'half' })).toBe(403)
    const once = createTokenFetch(provider, {
      allowedOrigins: [origin],
      fetch: send,
      retryOnRejection: false,
    })
    expect((await once(`${resource}/write`)).status).toBe(403)
    expect(forms()).toHaveLength(1)
  })

  it('have a cache entry of their own in a store', async () => {
    const store = createMemoryTokenStore()
    const first = startApi({}, { store })
    await first.call('write')
    const second = startApi({}, { store })
    expect(await second.call('write')).toBe(200)
    expect(second.calls).toEqual(['read', 'read.write'])
    expect(second.forms()).toEqual([])
    const [key, again, limited, trusting] = await Promise.all(
      [{}, {}, { scope: 'read' }, { trustedIssuers: [issuer, 'https://other.example.com'] }].map((options) =>
        cacheKeyOf((store) => start({}, options, { store }).provider),
      ),
    )
    expect(again).toBe(key)
    expect(new Set([key, limited, trusting]).size).toBe(3)
    expect(key).not.toContain(secret)
  })

  it('are stepped up to by the provider of a pool, and given up by reset and close', async () => {
    const { create, send } = startApi()
    const pool = createTokenPool(() => create())
    const tokens = pool.for('a')
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: [origin], fetch: send })
    expect((await apiFetch(`${resource}/write`)).status).toBe(200)
    tokens.reset()
    expect((await apiFetch(`${resource}/write`)).status).toBe(200)
    await pool.close()
    await expect(apiFetch(`${resource}/write`)).rejects.toThrow('closed')
  })
})

describe('the first request of the application', () => {
  const custom = `${origin}/meta.json`
  const pages: Pages = {
    [resource]: 405,
    [wellKnown]: undefined,
    [custom]: metadata({ scopes_supported: ['everything'] }),
  }

  /** An MCP server: it responds to POST alone, and has its metadata where only its challenge says. */
  function startMcp(
    { respond, ...settings }: Partial<AttachOptions> & { respond?: (token: string | null) => unknown } = {},
    options: Partial<ResourceClientCredentialsOptions> = {},
  ) {
    const started = start({ ...pages }, options)
    const calls: { url: string; token: string | null; body: unknown }[] = []
    const fetch = async (input: string | URL | Request, init: RequestInit = {}) => {
      const token = new Headers(init.headers).get('authorization')
      const body = init.body instanceof ReadableStream ? 'a stream' : init.body
      calls.push({ url: String(input instanceof Request ? input.url : input), token, body })
      init.signal?.throwIfAborted()
      const response = respond?.(token) as Response | undefined
      if (response) return response
      return token ? new Response('done') : challenge(`scope="tools", resource_metadata="${custom}"`)()
    }
    const apiFetch = createTokenFetch(started.provider, { allowedOrigins: [origin], fetch, ...settings })
    const call = (body = '{"n":1}', init: TokenFetchInit = {}) =>
      apiFetch(resource, { method: 'POST', body, ...init })
    return { ...started, calls, call, apiFetch }
  }
  const tokensOf = (calls: readonly { token: string | null }[]) => calls.map(({ token }) => token)

  it('goes without a token, and tells where the metadata is and which scopes are required', async () => {
    const { call, calls, forms, sent } = startMcp()
    expect(await (await call()).text()).toBe('done')
    expect(calls).toEqual([
      { url: resource, token: null, body: '{"n":1}' },
      { url: resource, token: 'Bearer token-1', body: '{"n":1}' },
    ])
    expect(forms()[0]!.get('scope')).toBe('tools')
    // No request of our own.
    expect(urls(sent)).toEqual([custom, oauth, `${issuer}/token`])
  })

  it('is one of many: the others wait for what it tells', async () => {
    const { call, calls, forms } = startMcp()
    const responses = await Promise.all(Array.from({ length: 30 }, () => call()))
    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(Array(30).fill('done'))
    expect(tokensOf(calls).filter((token) => token === null)).toHaveLength(1)
    expect(forms()).toHaveLength(1)
  })

  it('asks the application too whether the API requires a token', async () => {
    const headers = { 'www-authenticate': `Bearer resource_metadata="${custom}"` }
    const { call, calls } = startMcp({
      respond: (token) => (token ? undefined : Response.json({ errors: ['UNAUTHENTICATED'] }, { headers })),
      isTokenRejected: async ({ readBody }) => (await readBody?.())?.includes('UNAUTHENTICATED'),
    })
    expect((await call()).status).toBe(200)
    expect(calls.map(({ token }) => token)).toEqual([null, 'Bearer token-1'])
  })

  it('is not followed by another one without a token, nor by a request of our own', async () => {
    const { call, calls, provider, sent } = startMcp()
    await call()
    await provider.getToken({ forceRefresh: true })
    await call()
    expect(tokensOf(calls)).toEqual([null, 'Bearer token-1', 'Bearer token-2'])
    expect(urls(sent)).not.toContain(resource)
  })

  it('that the API accepts without a token is sent once, and its caller gets the response', async () => {
    const { call, calls } = startMcp({ respond: (token) => (token ? undefined : new Response('public')) })
    expect(await (await call()).text()).toBe('public')
    expect(tokensOf(calls)).toEqual([null])
  })

  it('that fails in another way is not sent again, either', async () => {
    const { call, calls } = startMcp({ respond: () => new Response('', { status: 500 }) })
    expect((await call()).status).toBe(500)
    expect(calls).toHaveLength(1)
  })

  it('that takes long is not sent twice at the same time', async () => {
    let finish: (response: Response) => void = () => {}
    const slow = new Promise<Response>((resolve) => (finish = resolve))
    const { call, calls, served, provider } = startMcp({ respond: (token) => (token ? undefined : slow) })
    served[wellKnown] = metadata()
    const first = call()
    await pass(5_000)
    // The others wait for it, but not longer than 3 s.
    const other = watch(provider.getToken())
    await pass(3_000)
    expect(other.value?.value).toBe('token-1')
    expect(calls).toHaveLength(1)
    finish(new Response('slow'))
    expect(await (await first).text()).toBe('slow')
    expect(calls).toHaveLength(1)
  })

  it('is sent again if the rejection takes longer than the token', async () => {
    let finish: (response: Response) => void = () => {}
    const slow = new Promise<Response>((resolve) => (finish = resolve))
    const { call, calls, served } = startMcp({ respond: (token) => (token ? undefined : slow) })
    served[wellKnown] = metadata()
    const first = call()
    await pass(5_000)
    finish(new Response('', { status: 401 }))
    expect(await (await first).text()).toBe('done')
    expect(tokensOf(calls)).toEqual([null, 'Bearer token-1'])
  })

  it('whose caller aborts leaves the others waiting', async () => {
    const controller = new AbortController()
    const { call, calls, served } = startMcp()
    served[wellKnown] = metadata()
    const first = call('{}', { signal: controller.signal })
    const other = call()
    controller.abort(new Error('left'))
    await expect(first).rejects.toThrow('left')
    expect(await (await other).text()).toBe('done')
    expect(tokensOf(calls)).not.toContain('Bearer undefined')
  })

  it('is the only one without a token, although the API tells nothing and its tokens expire', async () => {
    const { call, calls, served } = startMcp({
      respond: (token) => (token ? undefined : new Response('public')),
    })
    served[wellKnown] = metadata()
    for (let hour = 0; hour < 4; hour++) {
      await call()
      await pass(3_600_000)
    }
    expect(tokensOf(calls)).toEqual([null, 'Bearer token-1', 'Bearer token-2', 'Bearer token-3'])
  })

  it('is sent again with the current token, not with one that was revoked while the API took its time', async () => {
    let finish: (response: Response) => void = () => {}
    const slow = new Promise<Response>((resolve) => (finish = resolve))
    const { call, calls, served, provider } = startMcp({ respond: (token) => (token ? undefined : slow) })
    served[wellKnown] = metadata()
    const first = call()
    const other = watch(provider.getToken())
    await pass(5_000)
    expect(other.value?.value).toBe('token-1')
    provider.reset()
    finish(new Response('', { status: 401 }))
    expect(await (await first).text()).toBe('done')
    expect(tokensOf(calls)).toEqual([null, 'Bearer token-2'])
  })

  it('is no Request with a body: whether that can be sent again is known too late', async () => {
    const { apiFetch, calls, served } = startMcp()
    served[wellKnown] = metadata()
    const body = 'x'.repeat(1024 * 1024 + 1)
    expect((await apiFetch(new Request(resource, { method: 'POST', body }))).status).toBe(200)
    expect(calls).toHaveLength(1)
  })

  it('carries a token if there is a store, where another process may have one', async () => {
    const store = createMemoryTokenStore()
    const { create } = start({ [wellKnown]: metadata() })
    const tokens: (string | null)[] = []
    const apiFetch = createTokenFetch(create({ store }), {
      allowedOrigins: [origin],
      fetch: async (_url, init) => {
        tokens.push(new Headers(init?.headers).get('authorization'))
        return new Response()
      },
    })
    await apiFetch(resource)
    expect(tokens).toEqual(['Bearer token-1'])
  })

  it('whose connection fails gets its own error', async () => {
    const { call } = startMcp({
      respond: (token) => (token ? undefined : Promise.reject(new TypeError('connection refused'))),
    })
    await expect(call()).rejects.toThrow('connection refused')
  })

  it.each<[string, boolean]>([
    ['/mcp/x', true],
    ['/mcp/group%2Fproject', true],
    ['/mcp/%ff', true],
    ['/mcp/a..b', true],
    ['/mcp/..%2ftwo', false],
    ['/mcp/%2e%2e%2Ftwo', false],
    ['/mcp/..%5Ctwo', false],
    ['/mcp/..;v=1/two', false],
    ['/mcp/%252e%252e/two', false],
    ['/mcp/%u002e%u002e/two', false],
    ['/mcp/..%20/two', false],
    ['/mcp/\uFF0E\uFF0E/two', false],
    [`/mcp/%${'25'.repeat(20)}2e`, false],
  ])('is sent to %s: %s', async (path, isSent) => {
    const { call, provider } = startMcp()
    await call()
    const sent: boolean[] = []
    const fetch = async (_url: string, init?: RequestInit) => {
      sent.push(new Headers(init?.headers).has('authorization'))
      return new Response()
    }
    await createTokenFetch(provider, { allowedOrigins: [origin], fetch })(origin + path)
    expect(sent).toStrictEqual([isSent])
  })

  it.each([
    ['its resource', (hostile: string) => ({ resource: hostile })],
    ['its issuers', (hostile: string) => ({ authorization_servers: [hostile] })],
  ])(
    'is not sent for hostile names in %s, and the message shows no control characters',
    async (_, changes) => {
      const named = metadata(changes('https://\u009b2J\u009b31mevil\u202egnp.\u2028'))
      const { provider } = start({ [wellKnown]: named })
      const error: unknown = await provider.getToken().catch((thrown: unknown) => thrown)
      expect(String(error)).toContain('evil')
      expect(String(error)).not.toMatch(/[\p{Cc}\u202e\u2028]/u)
    },
  )

  it('is not sent if no issuer is trusted, and its caller learns why', async () => {
    const { call, calls } = startMcp({}, { trustedIssuers: ['https://other.example.com'] })
    await expect(call()).rejects.toThrow(
      /trustedIssuers contains none of its issuers, (?:"[^"]+"(?:, |\.$))+/,
    )
    expect(tokensOf(calls)).toEqual([null])
  })

  it.each<[string, Partial<AttachOptions>, TokenFetchInit]>([
    ['has a body that is sent once', {}, { body: new Blob(['x']).stream(), duplex: 'half' }],
    ['must not be repeated', { retryOnRejection: false }, {}],
    ['has another header in its place', { replaceHeader: true }, { headers: { authorization: 'API key' } }],
  ])('is not sent without a token if it %s', async (_, settings, init) => {
    const { call, calls, served } = startMcp(settings)
    served[resource] = challenge(`resource_metadata="${custom}"`)
    expect((await call('{}', init)).status).toBe(200)
    expect(tokensOf(calls)).toEqual(['Bearer token-1'])
  })

  it('to something else of the same origin tells nothing', async () => {
    const { apiFetch, calls, served } = startMcp({
      respond: () => challenge(`resource_metadata="${origin}/evil.json"`)(),
    })
    served[wellKnown] = metadata()
    expect((await apiFetch(`${origin}/mcp2`)).status).toBe(401)
    expect(calls).toEqual([{ url: `${origin}/mcp2`, token: null, body: undefined }])
  })

  it('tells again, with the token that the API rejects', async () => {
    const moved = `${origin}/moved.json`
    let isMoved = false
    const { call, forms, provider, served } = startMcp({
      respond: (token) =>
        isMoved && token === 'Bearer token-1'
          ? challenge(`error="invalid_token", scope="more", resource_metadata="${moved}"`)()
          : undefined,
    })
    await call()
    isMoved = true
    served[custom] = 404
    served[moved] = metadata()
    expect((await call()).status).toBe(200)
    expect(forms().map((form) => form.get('scope'))).toEqual(['tools', 'more'])
    // The metadata may move again, without a challenge.
    served[moved] = 404
    served[wellKnown] = metadata()
    await expect(provider.getToken({ forceRefresh: true })).rejects.toThrow('moved.json')
    await expect(provider.getToken({ forceRefresh: true })).resolves.toMatchObject({ value: 'token-3' })
  })
})

describe('a token for one resource', () => {
  const teams = `${origin}/teams/a/mcp`
  function startTeams(protectedResource: string, redirects: Record<string, string> = {}) {
    const { provider, events } = start(
      { [root]: metadata({ resource: origin }), [wellKnown]: undefined },
      { protectedResource },
    )
    const received: string[] = []
    const fetch = async (input: string | URL | Request, init: RequestInit = {}) => {
      const url = String(input instanceof Request ? input.url : input)
      const location = redirects[url]
      if (location) return new Response('', { status: 307, headers: { location } })
      const token = new Headers(init.headers).get('authorization')
      if (token) received.push(url)
      return new Response('', { status: token ? 200 : 401 })
    }
    const apiFetch = createTokenFetch(provider, { allowedOrigins: [origin], fetch })
    return { apiFetch, received, events }
  }

  it('goes to it and below it, and to no other one of the origin', async () => {
    const { apiFetch, received, events } = startTeams(teams)
    const own = [teams, `${teams}/`, `${teams}/tools?x=1`, `${teams}?x=1`]
    const others = [
      `${teams}2`,
      `${origin}/teams/b/mcp`,
      `${origin}/teams/a`,
      `${teams}/../mcp2`,
      `${origin}/`,
    ]
    for (const url of own) expect((await apiFetch(url)).status).toBe(200)
    for (const url of others) expect((await apiFetch(url)).status).toBe(401)
    expect(received).toEqual(own)
    expect(events.filter(({ type }) => type === 'token_withheld')).toHaveLength(others.length)
  })

  it('does not follow a redirect to another one, but one to what is below it', async () => {
    const { apiFetch, received } = startTeams(teams, {
      [teams]: `${teams}/`,
      [`${teams}/next`]: `${origin}/teams/b/mcp`,
    })
    await apiFetch(`${teams}/first`)
    expect((await apiFetch(teams)).status).toBe(200)
    expect((await apiFetch(`${teams}/next`)).status).toBe(401)
    expect(received).toEqual([`${teams}/first`, `${teams}/`])
  })

  it.each([
    ['https://mcp.example.com', `${origin}/anything`, true],
    [`${origin}/mcp/`, `${origin}/mcp/x`, true],
    [`${origin}/mcp/`, `${origin}/mcp`, false],
    [`${origin}/mcp?tenant=a`, `${origin}/mcp?tenant=a`, true],
    [`${origin}/mcp?tenant=a`, `${origin}/mcp?tenant=b`, false],
  ])('%s goes to %s: %s', async (protectedResource, url, expected) => {
    const { apiFetch, received } = startTeams(protectedResource)
    await apiFetch(url)
    expect(received).toEqual(expected ? [url] : [])
  })
})

describe('without a request of the application', () => {
  it('the metadata is looked up at the address of the path, then at that of the origin', async () => {
    const { provider, sent } = start({ [wellKnown]: 404, [root]: metadata() })
    await provider.getToken()
    expect(urls(sent)).toEqual([resource, wellKnown, root, oauth, `${issuer}/token`])
  })

  it('an API that is unavailable is not looked up elsewhere', async () => {
    const { provider, sent } = start({ [wellKnown]: 503, [root]: metadata() })
    await expect(provider.getToken()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(urls(sent)).toEqual([resource, wellKnown])
  })

  it.each<[string, string | undefined, boolean]>([
    ['the resource', resource, true],
    ['the origin', origin, true],
    ['a part of its path', `${origin}/m`, false],
    ['another path', `${origin}/mcp2`, false],
    ['another origin', 'https://mcp.example.com.evil.net/mcp', false],
    ['another port', `${origin}:8443/mcp`, false],
  ])('metadata of the origin covers the resource if it names %s: %s', async (_, named, expected) => {
    const { provider, forms } = start({ [wellKnown]: 404, [root]: metadata({ resource: named }) })
    const result = provider.getToken().then(
      () => true,
      () => false,
    )
    expect(await result).toBe(expected)
    // What the application has named is requested: nothing wider.
    expect(forms().map((form) => form.get('resource'))).toEqual(expected ? [resource] : [])
  })

  it.each<[ResourceClientCredentialsOptions['probeMethod'], string, string]>([
    [undefined, 'GET', ''],
    ['HEAD', 'HEAD', ''],
    ['POST', 'POST', '{}'],
  ])('the challenge is requested with probeMethod %s', async (probeMethod, method, body) => {
    const { provider, sent, forms } = start({ [resource]: challenge('scope="tools"') }, { probeMethod })
    await provider.getToken()
    expect(sent[0]).toMatchObject({ url: resource, method })
    expect(sent[0]!.text.endsWith(` ${body}`)).toBe(true)
    expect(forms().at(-1)!.get('scope')).toBe('tools')
    await provider.getToken({ forceRefresh: true })
    expect(urls(sent).filter((url) => url === resource)).toHaveLength(1)
  })
})

describe('the scopes that an API requires', () => {
  const many = (count: number, length = 4) =>
    Array.from({ length: count }, (_, n) => `${n}`.padEnd(length, 's')).join(' ')

  it.each([
    ['201 of them', many(201)],
    ['long ones', many(90, 100)],
  ])('are not requested if there are too many: %s', async (_, scope) => {
    const { provider, forms } = start({ [resource]: challenge(`scope="${scope}"`) })
    await expect(provider.getToken()).rejects.toThrow('more than 200 or 8 KiB. Set scope')
    expect(forms()).toEqual([])
    const limited = start({ [resource]: challenge(`scope="${scope}"`) }, { scope: scope.slice(0, 9) })
    await expect(limited.provider.getToken()).resolves.toBeDefined()
  })

  it.each([
    [200, true],
    [201, false],
  ])('can be stepped up to within bounds: %d of them', async (count, isGranted) => {
    const { provider, forms } = start({ [resource]: challenge('scope="0sss"') })
    const token = await provider.getToken()
    const missingScopes = many(count).split(' ')
    await provider.replaceRejected(token, { url: resource, attempt: 1, repeatable: true, missingScopes })
    expect(forms()).toHaveLength(isGranted ? 2 : 1)
  })
})

describe('jwtBearer with a protected resource', () => {
  function startFederated(pages: Pages = {}) {
    const assertion = vi.fn(({ issuer: of }: { issuer?: string | undefined }) => `jwt for ${of}`)
    const { fetch, forms, sent } = start({ [resource]: challenge('scope="tools"'), ...pages })
    const labels = new Set<string | undefined>()
    const provider = jwtBearer({
      protectedResource: resource,
      trustedIssuers: [issuer],
      assertion,
      subject: 'workload',
      fetch,
      maxAttempts: 1,
      onEvent: ({ label }) => labels.add(label),
    })
    return { provider, labels, forms, sent, assertion }
  }

  it('finds the issuer by the API, and sends it the assertion', async () => {
    const { provider, forms, sent, labels } = startFederated()
    await expect(provider.getToken()).resolves.toMatchObject({ value: 'token-1', resource })
    expect(urls(sent)).toEqual([resource, wellKnown, oauth, `${issuer}/token`])
    expect(Object.fromEntries(forms()[0]!)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: `jwt for ${issuer}`,
      resource,
      scope: 'tools',
    })
    expect([...labels]).toEqual(['workload'])
  })

  it('blames no secret if the client is not authorized', async () => {
    const { provider } = startFederated({
      [`${issuer}/token`]: () => Response.json({ error: 'unauthorized_client' }, { status: 400 }),
    })
    await expect(provider.getToken()).rejects.toMatchObject({
      kind: 'credentials',
      message: `The token endpoint ${issuer}/token did not authorize the client for this grant (400 unauthorized_client). Check the approval and the grants of "workload".`,
    })
  })

  it('sends no assertion to an issuer that is not trusted', async () => {
    const { provider, assertion } = startFederated({
      [wellKnown]: metadata({ authorization_servers: ['https://evil.example.net'] }),
    })
    await expect(provider.getToken()).rejects.toThrow('trustedIssuers contains none')
    expect(assertion).not.toHaveBeenCalled()
  })
})
