import { clientCredentials, createMemoryTokenStore, type ClientCredentialsOptions } from '@tokenwell/core'
import { describe, expect, it, vi } from 'vitest'
import { pass, useFakeTime } from '../support/fake-time.ts'

useFakeTime()

const origin = 'https://login.example.com'
const metadata = (changes: object = {}, issuer = origin) => ({
  issuer,
  token_endpoint: `${issuer}/token`,
  ...changes,
})

type Pages = Record<string, object | string | number | undefined>

/** Serves these pages, and a token everywhere else to a POST. */
function start(pages: Pages, options: Partial<ClientCredentialsOptions> = {}) {
  const urls: string[] = []
  const forms: { headers: Headers; form: URLSearchParams }[] = []
  const fetch = vi.fn(async (input: string | URL | Request, init?: RequestInit) => {
    const url = input instanceof Request ? input.url : String(input)
    urls.push(url)
    if (init?.method === 'POST') {
      forms.push({ headers: new Headers(init.headers), form: new URLSearchParams(init.body as string) })
      return Response.json({ access_token: 'token', expires_in: 600 })
    }
    const page = pages[url]
    if (page === undefined) return new Response('', { status: 404 })
    if (typeof page === 'number') return new Response('', { status: page })
    if (page === 'unreachable') throw new TypeError('failed', { cause: { code: 'ECONNREFUSED' } })
    return typeof page === 'string' ? new Response(page) : Response.json(page)
  })
  const create = (further: Partial<ClientCredentialsOptions> = {}) =>
    clientCredentials({
      issuer: origin,
      clientId: 'client',
      clientSecret: 'secret',
      fetch,
      maxAttempts: 1,
      ...options,
      ...further,
    })
  return { fetch, urls, forms, create, tokens: create() }
}

const oauth = `${origin}/.well-known/oauth-authorization-server`
const openid = `${origin}/.well-known/openid-configuration`

describe('an issuer', () => {
  it('is not trusted with the URLs that only another source allows', async () => {
    const { fetch, urls, tokens } = start(
      { [oauth]: metadata({ revocation_endpoint: 'http://login.example.com/revoke' }) },
      { allowInsecureRequests: true },
    )
    await tokens.getToken()
    const strict = clientCredentials({ issuer: origin, clientId: 'client', clientSecret: 'secret', fetch })
    await strict.getToken()
    await expect(strict.revoke()).rejects.toThrow(
      'revocationEndpoint is missing. Set it, because the issuer names none.',
    )
    expect(urls.filter((url) => url.startsWith('http:'))).toEqual([])
    await tokens.revoke()
    expect(urls.filter((url) => url.startsWith('http:'))).toHaveLength(1)
  })

  it.each([
    [['client_secret_post', 'client_secret_basic'], true],
    [['client_secret_post'], false],
  ])(
    'that accepts a secret by %j: the error of a rejected one names HTTP Basic: %s',
    async (methods, hints) => {
      const { fetch } = start({ [oauth]: metadata({ token_endpoint_auth_methods_supported: methods }) })
      const send: typeof fetch = vi.fn(async (input, init) =>
        init?.method === 'POST'
          ? Response.json({ error: 'invalid_client' }, { status: 401 })
          : fetch(input, init),
      )
      const options = { issuer: origin, clientId: 'client', clientSecret: 'secret', fetch: send }
      const error = (await clientCredentials(options)
        .getToken()
        .catch((thrown: unknown) => thrown)) as Error
      const hint =
        "The issuer accepts HTTP Basic as well: if the client is registered for it, set clientAuthentication: 'client_secret_basic'."
      expect(error.message.includes(hint)).toBe(hints)
    },
  )

  it('looks up the token endpoint at the first token request, once for all callers', async () => {
    const { fetch, tokens, urls } = start({ [oauth]: metadata() })
    await pass(60_000)
    expect(urls).toEqual([])
    await Promise.all(Array.from({ length: 100 }, () => tokens.getToken()))
    expect(urls).toEqual([oauth, `${origin}/token`])
    expect(fetch.mock.calls[0]![1]).toMatchObject({ headers: { accept: 'application/json' } })
  })

  it('names a metadata URL that does not respond, and tries the others', async () => {
    const hangs = (names: RegExp) => {
      const started = start({ [oauth]: metadata(), [openid]: metadata() })
      const respond = started.fetch.getMockImplementation()!
      started.fetch.mockImplementation((input, init) =>
        names.test(input as string) ? new Promise(() => {}) : respond(input, init),
      )
      return started.tokens.getToken().catch((error: unknown) => error)
    }
    const found = hangs(/oauth-authorization-server/)
    const failure = hangs(/well-known/)
    await pass(10_000)
    expect(await found).toMatchObject({ value: 'token' })
    expect(await failure).toMatchObject({
      kind: 'unavailable',
      message: `Could not find metadata for the issuer "${origin}": ${oauth} failed (no response in 3 s); ${openid} failed (no response in 3 s).`,
    })
  })

  it('is looked up once for all sources, and again after an hour', async () => {
    const { urls, create, tokens } = start({ [oauth]: metadata() })
    await Promise.all([tokens, create(), create({ clientId: 'another' })].map((each) => each.getToken()))
    expect(urls.filter((url) => url === oauth)).toHaveLength(1)
    await pass(3_599_000)
    await tokens.getToken({ forceRefresh: true })
    expect(urls.filter((url) => url === oauth)).toHaveLength(1)
    await pass(1_000)
    await tokens.getToken({ forceRefresh: true })
    expect(urls.filter((url) => url === oauth)).toHaveLength(2)
  })

  it.each([500, 503, 429])(
    'uses old metadata during a status %d, but not after the issuer has removed it',
    async (status) => {
      const pages: Pages = { [oauth]: metadata() }
      const { tokens } = start(pages)
      await tokens.getToken()
      await pass(3_600_000)
      pages[oauth] = status
      await expect(tokens.getToken({ forceRefresh: true })).resolves.toMatchObject({ value: 'token' })
      pages[oauth] = undefined
      await expect(tokens.getToken({ forceRefresh: true })).rejects.toMatchObject({ kind: 'configuration' })
    },
  )

  it('starts another request if the runtime has dropped the first', async () => {
    let dropped = true
    const fetch = (_input: unknown, init?: RequestInit): Promise<Response> => {
      if (init?.method === 'POST')
        return Promise.resolve(Response.json({ access_token: 'token', expires_in: 600 }))
      return dropped ? new Promise(() => {}) : Promise.resolve(Response.json(metadata()))
    }
    const tokens = clientCredentials({
      issuer: origin,
      clientId: 'client',
      clientSecret: 'secret',
      fetch,
      attemptTimeoutMs: 100,
      maxAttempts: 1,
    })
    const failed = expect(tokens.getToken()).rejects.toMatchObject({ kind: 'unavailable' })
    await pass(100)
    await failed
    dropped = false
    await pass(10_000)
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token' })
  })

  it.each([
    ['https://login.example.com', [oauth, openid]],
    ['https://login.example.com/', [oauth, openid]],
    [
      'https://login.example.com/tenant/',
      [`${oauth}/tenant`, `${openid}/tenant`, `${origin}/tenant/.well-known/openid-configuration`],
    ],
  ])('names the URLs that it tried, for %s', async (issuer, urls) => {
    const { tokens, urls: requested } = start({}, { issuer })
    const failures = urls.map((url) => `${url} responded with status 404`).join('; ')
    await expect(tokens.getToken()).rejects.toMatchObject({
      kind: 'configuration',
      message: `Could not find metadata for the issuer "${issuer}": ${failures}.`,
    })
    expect(requested).toEqual(urls)
  })

  it('names the option if the function for the issuer fails', async () => {
    const issuer = () => Promise.reject(new RangeError('canary'))
    await expect(start({}, { issuer }).tokens.getToken()).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'The issuer function failed (RangeError).',
    })
  })

  it.each<[string, Pages[string], string, string]>([
    [
      'of another issuer',
      metadata({}, `${origin}/`),
      'configuration',
      'has the issuer "https://login.example.com/"',
    ],
    ['without an issuer', { token_endpoint: `${origin}/token` }, 'configuration', 'has no issuer'],
    ['that is not JSON', '<html>', 'configuration', 'is not JSON'],
    ['that is null', 'null', 'configuration', 'has no issuer'],
    ['without a token endpoint', { issuer: origin }, 'configuration', 'has no valid token_endpoint'],
    [
      'with plain HTTP',
      metadata({ token_endpoint: 'http://login.example.com/token' }),
      'configuration',
      'has no valid token_endpoint',
    ],
    [
      'with an alias over plain HTTP',
      metadata({ mtls_endpoint_aliases: { token_endpoint: 'http://mtls.example.com' } }),
      'configuration',
      'has no valid token_endpoint',
    ],
    ['that redirects', 302, 'configuration', 'responded with status 302'],
    ['that fails', 503, 'unavailable', 'responded with status 503'],
    ['that is unreachable', 'unreachable', 'unavailable', 'failed (ECONNREFUSED)'],
  ])('ignores metadata %s', async (_name, page, kind, problem) => {
    const failing = start({ [oauth]: page })
    await expect(failing.tokens.getToken()).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(`${oauth} ${problem}; ${openid} responded with status 404.`),
    })
    const { tokens } = start({ [oauth]: page, [openid]: metadata() })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token' })
  })

  it.each([
    [undefined, 'client_secret_basic'],
    [['client_secret_basic', 'client_secret_post'], 'client_secret_post'],
    [['private_key_jwt', 'client_secret_basic'], 'client_secret_basic'],
  ])('sends the secret as %j allow', async (token_endpoint_auth_methods_supported, method) => {
    const { tokens, forms } = start({ [oauth]: metadata({ token_endpoint_auth_methods_supported }) })
    await tokens.getToken()
    const [{ headers, form }] = forms as [(typeof forms)[0]]
    expect([headers.has('authorization'), form.has('client_secret')]).toEqual([
      method === 'client_secret_basic',
      method === 'client_secret_post',
    ])
  })

  it('names the supported methods if a secret is not among them', async () => {
    const offer = { token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] }
    const { tokens } = start({ [oauth]: metadata(offer) })
    await expect(tokens.getToken()).rejects.toMatchObject({
      kind: 'configuration',
      message: `The issuer "${origin}" does not accept a client secret, only private_key_jwt, none. Set clientAuthentication.`,
    })
    const chosen = start({ [oauth]: metadata(offer) }, { clientAuthentication: 'client_secret_post' })
    await expect(chosen.tokens.getToken()).resolves.toMatchObject({ value: 'token' })
  })

  it('uses the alias of the token endpoint with a client certificate, and passes the issuer on', async () => {
    const aliases = { mtls_endpoint_aliases: { token_endpoint: 'https://mtls.example.com/token' } }
    const issuers: (string | undefined)[] = []
    const authentication = (usesCertificate: boolean) => ({
      usesCertificate,
      authenticate: ({ issuer }: { issuer?: string | undefined }) => void issuers.push(issuer),
      fingerprint: () => 'certificate',
    })
    const used = async (usesCertificate: boolean, page: object) => {
      const { tokens, urls } = start(
        { [oauth]: page },
        { clientAuthentication: authentication(usesCertificate) },
      )
      await tokens.getToken()
      return urls.at(-1)
    }
    expect(await used(true, metadata(aliases))).toBe('https://mtls.example.com/token')
    expect(await used(false, metadata(aliases))).toBe(`${origin}/token`)
    expect(await used(true, metadata())).toBe(`${origin}/token`)
    expect(issuers).toEqual([origin, origin, origin])
  })

  it.each([
    [true, 'https://mtls.example.com/revoke'],
    [false, `${origin}/revoke`],
  ])('is asked to revoke at the alias if there is a client certificate: %s', async (usesCertificate, url) => {
    const page = metadata({
      revocation_endpoint: `${origin}/revoke`,
      mtls_endpoint_aliases: { revocation_endpoint: 'https://mtls.example.com/revoke' },
    })
    const clientAuthentication = { usesCertificate, authenticate() {}, fingerprint: () => 'certificate' }
    const { tokens, urls } = start({ [oauth]: page }, { clientAuthentication })
    await tokens.getToken()
    await tokens.revoke()
    expect(urls.slice(-2)).toEqual([`${origin}/token`, url])
  })

  it('gets a token from a shared store while the issuer is down', async () => {
    const store = createMemoryTokenStore()
    const up = start({ [oauth]: metadata() })
    await up.create({ store }).getToken()
    const down = start({ [oauth]: 503 })
    await expect(down.create({ store }).getToken()).resolves.toMatchObject({
      value: 'token',
    })
    expect(down.urls).toEqual([])
  })

  it('calls a function for the issuer when it is used', async () => {
    const issuer = vi.fn(() => origin)
    const { tokens } = start({ [oauth]: metadata() }, { issuer })
    expect(issuer).not.toHaveBeenCalled()
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token' })
  })

  it('with HTTP Basic starts one cooldown for a secret that was rejected', async () => {
    const { fetch, urls, tokens } = start({ [oauth]: metadata() }, { clientSecret: () => 'wrong' })
    const respond = fetch.getMockImplementation()!
    fetch.mockImplementation(async (input, init) =>
      init?.method === 'POST'
        ? (urls.push('POST'), Response.json({ error: 'invalid_client' }, { status: 401 }))
        : respond(input, init),
    )
    for (let second = 0; second < 10; second++) {
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
      await pass(1_000)
    }
    expect(urls.filter((url) => url === 'POST')).toHaveLength(2)
  })

  it.each<[object, string]>([
    [{ tokenEndpoint: `${origin}/token` }, 'issuer, authUrl and tokenEndpoint are mutually exclusive.'],
    [{ authUrl: origin }, 'issuer, authUrl and tokenEndpoint are mutually exclusive.'],
    [{ issuer: new URL(origin) }, "issuer must be a string, such as 'https://login.example.com'."],
    [{ issuer: 'http://login.example.com' }, 'issuer must start with https://'],
    [{ issuer: 'login' }, 'issuer is not a valid URL'],
    [{ issuer: 'https://login.example.com?tenant=one' }, 'issuer must not contain a query'],
  ])('rejects %j', async (options, message) => {
    expect(() => start({}, options)).toThrow(message)
    const { issuer } = options as { issuer?: unknown }
    if (typeof issuer !== 'string') return
    const { tokens, urls } = start({}, { issuer: () => issuer })
    await expect(tokens.getToken()).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining(message),
    })
    expect(urls).toEqual([])
  })
})
