import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt, SignJWT, type JWTHeaderParameters } from 'jose'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startTokenService } from '@tokenwell/token-service'
import {
  cells,
  createPortalBrowser,
  password,
  plainText,
  startPortal,
  useCheapPasswords,
  type PortalBrowser,
} from './portal-browser.ts'
import {
  auditOf,
  callbackOf,
  clientSecret,
  openidProvider,
  problem,
  roleOf,
  startOpenidPortal,
  startOpenidProvider,
} from './openid-provider.ts'

useCheapPasswords()

const expired = 'This log-in was used already, has expired, or was begun in another browser.'
const developers = ['portal-developers']
const administrators = ['portal-admins']

describe('logging in through an OpenID provider', () => {
  it.each([
    ['in the ID token', true],
    ['from the userinfo endpoint', false],
  ])('creates a developer, with claims %s', async (_where, inIdToken) => {
    const { admin, newBrowser, logInAs, provider } = await startOpenidPortal({}, {}, { inIdToken })
    const page = (await newBrowser().get('/portal/log-in?next=%2Fportal%2Fprojects')).text
    expect(page).toContain('href="/portal/log-in/openid?next=%2Fportal%2Fprojects"')
    expect(plainText(page)).toContain('Log in with Example ID')
    const { browser, response } = await logInAs('subject-1')
    expect([response.status, response.location]).toEqual([303, '/portal'])
    expect(await roleOf(browser)).toBe('grace, Developer')
    expect(provider.requests.includes('/me')).toBe(!inIdToken)
    const audit = await auditOf(admin)
    expect(audit).toMatch(/grace logged in by openid/)
    expect(audit).toMatch(/grace joined/)
    // The cookie of the log-in is gone.
    expect(browser.cookies.get('tokenwell_portal_log_in')).toBe('')
  })

  it('sends what the flow requires, and nothing secret', async () => {
    const { newBrowser, provider, service } = await startOpenidPortal({
      scopes: ['openid', 'profile', 'groups'],
    })
    const { location, headers } = await newBrowser().get('/portal/log-in/openid')
    const { origin, searchParams } = new URL(location ?? '')
    expect(origin).toBe(provider.issuer)
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: 'portal',
      response_type: 'code',
      redirect_uri: `${service.authUrl}/portal/log-in/callback`,
      scope: 'openid profile groups',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    const cookie = headers.getSetCookie().find((each) => each.startsWith('tokenwell_portal_log_in='))
    expect(cookie).toMatch(/; Max-Age=600; Path=\/portal; HttpOnly; SameSite=Lax$/)
    expect(cookie).not.toContain(searchParams.get('state'))
  })

  it('continues where the person wanted to go, but never on another site', async () => {
    const { newBrowser } = await startOpenidPortal()
    const continued = async (next: string) => {
      const browser = newBrowser()
      const callback = await callbackOf(browser, { next: `?${new URLSearchParams({ next })}` })
      return (await browser.get(callback)).location
    }
    expect(await continued('/portal/projects?q=a')).toBe('/portal/projects?q=a')
    for (const next of [
      'https://evil.example/portal/',
      '//evil.example',
      '/portal/..//evil.example',
      '/\\evil',
    ])
      expect([next, await continued(next)]).toEqual([next, '/portal'])
  })

  it('finds a person again by issuer and subject, never by name or e-mail address', async () => {
    const { logInAs, provider, admin } = await startOpenidPortal()
    await logInAs('subject-1')
    const { accounts } = provider
    accounts.set('subject-1', { preferred_username: 'renamed', groups: developers })
    expect(await roleOf((await logInAs('subject-1')).browser)).toBe('grace, Developer')
    accounts.set('subject-2', { preferred_username: 'grace', email: 'grace@example.com', groups: developers })
    const { response, browser } = await logInAs('subject-2')
    expect([response.status, problem(response.text)]).toEqual([
      403,
      'An account named “grace”, or with a name that looks like it, exists already. If it is yours, log in to it and link your account at Example ID to it. Otherwise, ask an administrator to remove it, or change your name at Example ID.',
    ])
    expect(await roleOf(browser)).toBeUndefined()
    // The name of a local account neither leads into that account.
    accounts.set('subject-3', { preferred_username: 'ADA', groups: administrators })
    expect((await logInAs('subject-3')).response.status).toBe(403)
    expect(await roleOf(admin)).toBe('ada, Administrator')
  })

  it.each([
    [undefined, 'This field is required.'],
    ['admin\u0456strator', 'This must use the letters of one script.'],
    ['<b>', 'Start with a letter or digit'],
    ['api', 'This name is reserved.'],
  ])('rejects the name %j with a sentence', async (name, sentence) => {
    const { logInAs, provider } = await startOpenidPortal()
    provider.accounts.set('s', {
      groups: developers,
      ...(name !== undefined && { preferred_username: name }),
    })
    const { response } = await logInAs('s')
    expect([response.status, problem(response.text)]).toEqual([403, expect.stringContaining(sentence)])
    expect(problem(response.text)).toContain('(preferred_username)')
  })

  it('keeps the identities apart when several requests of a new person arrive at once', async () => {
    const { newBrowser, admin } = await startOpenidPortal()
    const browsers = [newBrowser(), newBrowser(), newBrowser()]
    const callbacks = await Promise.all(browsers.map((browser) => callbackOf(browser)))
    const responses = await Promise.all(browsers.map((browser, at) => browser.get(callbacks[at]!)))
    expect(responses.map(({ status }) => status)).toEqual([303, 303, 303])
    const { text } = await admin.get('/portal/developers')
    expect(cells(text, 'name').filter((name) => name === 'grace')).toHaveLength(1)
  })
})

describe('the groups', () => {
  it('decide the role at each log-in, in all sessions', async () => {
    const { logInAs, provider, admin } = await startOpenidPortal()
    provider.accounts.set('s', { preferred_username: 'lin', groups: administrators })
    const first = await logInAs('s')
    expect(await roleOf(first.browser)).toBe('lin, Administrator')
    provider.accounts.set('s', { preferred_username: 'lin', groups: 'portal-developers' })
    expect(await roleOf(first.browser)).toBe('lin, Administrator')
    expect(await roleOf((await logInAs('s')).browser)).toBe('lin, Developer')
    expect(await roleOf(first.browser)).toBe('lin, Developer')
    expect((await first.browser.get('/portal/developers')).status).toBe(403)
    provider.accounts.set('s', { preferred_username: 'lin', groups: administrators })
    await logInAs('s')
    expect(await roleOf(first.browser)).toBe('lin, Administrator')
    const audit = await auditOf(admin)
    expect(audit).toContain('The service (Example ID) made lin a developer')
    expect(audit).toContain('The service (Example ID) made lin an administrator')
  })

  it.each([[[]], [['others']], [undefined], [{ 'portal-developers': true }], [[['portal-developers']]]])(
    'reject a person with %j, and end the sessions',
    async (groups) => {
      const { logInAs, provider, admin } = await startOpenidPortal()
      provider.accounts.set('s', { preferred_username: 'lin', groups: [...administrators, ...developers] })
      const before = await logInAs('s')
      provider.accounts.set('s', { preferred_username: 'lin', ...(groups && { groups }) })
      const { response, browser } = await logInAs('s')
      expect([response.status, problem(response.text)]).toEqual([
        403,
        'You are in no group at Example ID that may use this portal.',
      ])
      expect([await roleOf(browser), await roleOf(before.browser)]).toEqual([undefined, undefined])
      const roles = cells((await admin.get('/portal/developers')).text, 'role')
      expect(roles.filter((role) => role === 'Administrator')).toHaveLength(1)
      expect(await auditOf(admin)).toContain('The service (Example ID) ended the sessions of lin')
    },
  )

  it('do not take the role of the last administrator, who cannot log in without it', async () => {
    const provider = await startOpenidProvider()
    const service = await startTokenService({ portal: true, openidProvider: openidProvider(provider.issuer) })
    onTestFinished(() => service.close())
    provider.register(service.authUrl)
    const logIn = async () => {
      const browser = createPortalBrowser(service.authUrl)
      return { browser, response: await browser.get(await callbackOf(browser)) }
    }
    provider.accounts.set('subject-1', { preferred_username: 'lin', groups: administrators })
    expect((await createPortalBrowser(service.authUrl).get('/portal/log-in')).text).not.toContain(
      'no developers',
    )
    const first = await logIn()
    expect(await roleOf(first.browser)).toBe('lin, Administrator')
    expect(await service.createSetupLink()).toBeUndefined()
    provider.accounts.set('subject-1', { preferred_username: 'lin', groups: developers })
    expect(problem((await logIn()).response.text)).toMatch(/^You are no longer in a group of administrators/)
    expect(await roleOf(first.browser)).toBeUndefined()
  })

  it('are not needed with developerGroups "*"; then the portal decides who is an administrator', async () => {
    const settings = { developerGroups: '*', administratorGroups: [] } as const
    const { logInAs, provider, admin } = await startOpenidPortal(settings)
    provider.accounts.set('s', { preferred_username: 'lin' })
    const { browser } = await logInAs('s')
    expect(await roleOf(browser)).toBe('lin, Developer')
    const { text } = await admin.get('/portal/developers')
    const row = text.split('<tr').find((each) => cells(each, 'name')[0] === 'lin') ?? ''
    const [, id] = /developers\/([\w-]+)"/.exec(row) ?? []
    await admin.post(`/portal/developers/${id}/role`, { administrator: 'yes' })
    expect(await roleOf((await logInAs('s')).browser)).toBe('lin, Administrator')
  })
})

describe('a response of the provider', () => {
  async function rejected(browser: PortalBrowser, callback: string) {
    const { status, text } = await browser.get(callback)
    expect(await roleOf(browser)).toBeUndefined()
    return [status, problem(text)]
  }
  const invalid = [400, 'The response of Example ID is not valid. Log in again.']
  const altered = (callback: string, change: (query: URLSearchParams) => void) => {
    const url = new URL(callback)
    change(url.searchParams)
    return url.href
  }

  it('is rejected with another state, or none, without a request to the provider; the log-in stays possible', async () => {
    const { newBrowser, provider } = await startOpenidPortal()
    const browser = newBrowser()
    const callback = await callbackOf(browser)
    for (const change of [
      (query: URLSearchParams) => query.set('state', 'x'.repeat(43)),
      (query: URLSearchParams) => query.delete('state'),
      (query: URLSearchParams) => query.append('state', query.get('state')!),
    ])
      expect(await rejected(browser, altered(callback, change))).toEqual([
        400,
        expect.stringContaining(expired),
      ])
    expect(provider.requests).not.toContain('/token')
    expect((await browser.get(callback)).location).toBe('/portal')
  })

  it.each([
    ['another issuer (mix-up)', (query: URLSearchParams) => query.set('iss', 'https://evil.example')],
    ['no issuer, which the provider always states', (query: URLSearchParams) => query.delete('iss')],
    ['two codes', (query: URLSearchParams) => query.append('code', 'other')],
    ['an invented code', (query: URLSearchParams) => query.set('code', 'invented')],
    ['no code', (query: URLSearchParams) => query.delete('code')],
  ])('is rejected with %s', async (_what, change) => {
    const { newBrowser, admin } = await startOpenidPortal()
    const browser = newBrowser()
    expect(await rejected(browser, altered(await callbackOf(browser), change))).toEqual(invalid)
    await expect.poll(() => auditOf(admin)).toContain('Somebody failed to log in')
  })

  it.each(['nonce', 'code_challenge'])('is rejected for a request with another %s', async (name) => {
    const { newBrowser } = await startOpenidPortal()
    const browser = newBrowser()
    const callback = await callbackOf(browser, {
      alter: ({ searchParams }) => searchParams.set(name, 'x'.repeat(43)),
    })
    expect(await rejected(browser, callback)).toEqual(invalid)
  })

  it.each<[string, Readonly<Record<string, unknown>>, Partial<JWTHeaderParameters>?]>([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'other' }],
    ['several audiences, but no authorized party', { aud: ['portal', 'other'] }],
    ['another authorized party', { aud: ['portal', 'other'], azp: 'other' }],
    ['a past expiry', { exp: Math.floor(Date.now() / 1000) - 61 }],
    ['no expiry', { exp: undefined }],
    ['an issue time of text', { iat: 'now' }],
    ['no issue time', { iat: undefined }],
    ['an issue time in an hour', { iat: Math.floor(Date.now() / 1000) + 3_600 }],
    ['another nonce', { nonce: 'x'.repeat(43) }],
    ['no nonce', { nonce: undefined }],
    ['nobody', { sub: undefined }],
    ['an unknown key', {}, { kid: 'key-2' }],
  ])('is rejected with an ID token of %s, and accepted with the right one', async (_what, claims, header) => {
    const { logInAs, provider } = await startOpenidPortal()
    let change = claims
    let headers = header
    provider.alterTokens = async (body) => {
      body['id_token'] = await provider.sign(
        { ...decodeJwt(String(body['id_token'])), at_hash: undefined, ...change },
        headers,
      )
    }
    const { response, browser } = await logInAs('subject-1')
    expect([response.status, problem(response.text)]).toEqual(invalid)
    expect(await roleOf(browser)).toBeUndefined()
    change = {}
    headers = {}
    expect((await logInAs('subject-1')).response.location).toBe('/portal')
  })

  it('is rejected with an ID token that the provider did not sign, or none', async () => {
    const { logInAs, provider } = await startOpenidPortal()
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const changes: ((token: string) => string | undefined | Promise<string>)[] = [
      (token) => new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'RS256', kid: 'key-1' }).sign(other),
      (token) => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`,
      (token) =>
        new SignJWT(decodeJwt(token))
          .setProtectedHeader({ alg: 'HS256' })
          .sign(Buffer.from(clientSecret.padEnd(32))),
      () => undefined,
    ]
    for (const change of changes) {
      provider.alterTokens = async (body) => void (body['id_token'] = await change(String(body['id_token'])))
      const { response, browser } = await logInAs('subject-1')
      expect([response.status, problem(response.text)]).toEqual(invalid)
      expect(await roleOf(browser)).toBeUndefined()
    }
  })

  it('is rejected with userinfo of somebody else, whose groups it states', async () => {
    const { logInAs, provider } = await startOpenidPortal()
    provider.alterUserInfo = (body) => Object.assign(body, { sub: 'subject-2', groups: administrators })
    const { response, browser } = await logInAs('subject-1')
    expect([response.status, problem(response.text)]).toEqual(invalid)
    expect(await roleOf(browser)).toBeUndefined()
  })

  it('states in the ID token who somebody is, whatever the userinfo endpoint adds', async () => {
    const { logInAs, provider } = await startOpenidPortal()
    provider.alterTokens = async (body) => {
      const claims = decodeJwt(String(body['id_token']))
      const more = { at_hash: undefined, preferred_username: 'grace' }
      body['id_token'] = await provider.sign({ ...claims, ...more })
    }
    provider.alterUserInfo = (body) => Object.assign(body, { preferred_username: 'other' })
    expect(await roleOf((await logInAs('subject-1')).browser)).toBe('grace, Developer')
  })

  it('is rejected when it is replayed, even with the cookie', async () => {
    const { newBrowser, provider } = await startOpenidPortal()
    const [browser, thief] = [newBrowser(), newBrowser()]
    const callback = await callbackOf(browser)
    const cookie = browser.cookies.get('tokenwell_portal_log_in')!
    expect((await browser.get(callback)).location).toBe('/portal')
    thief.cookies.set('tokenwell_portal_log_in', cookie)
    const tokenRequests = () => provider.requests.filter((path) => path === '/token').length
    expect(tokenRequests()).toBe(1)
    expect(await rejected(thief, callback)).toEqual([400, expect.stringContaining(expired)])
    expect(tokenRequests()).toBe(1)
    // Its code, in a log-in of one's own.
    const own = await callbackOf(thief)
    const code = new URL(callback).searchParams.get('code')!
    expect(
      await rejected(
        thief,
        altered(own, (query) => query.set('code', code)),
      ),
    ).toEqual(invalid)
  })

  it('is rejected in another browser, which has none, a forged or its own log-in', async () => {
    const { newBrowser } = await startOpenidPortal()
    const callback = await callbackOf(newBrowser())
    const forged = Buffer.from(JSON.stringify({ state: 'x' })).toString('base64url')
    for (const cookie of [undefined, '', forged, `${forged}.${forged}.${forged}`]) {
      const other = newBrowser()
      if (cookie !== undefined) other.cookies.set('tokenwell_portal_log_in', cookie)
      expect(await rejected(other, callback)).toEqual([400, expect.stringContaining(expired)])
    }
    const own = newBrowser()
    await own.get('/portal/log-in/openid')
    expect(await rejected(own, callback)).toEqual([400, expect.stringContaining(expired)])
  })

  it('is rejected ten minutes after the log-in began', async () => {
    const time = { now: Date.now() }
    const { newBrowser } = await startOpenidPortal({}, { clock: { now: () => time.now } })
    const browser = newBrowser()
    const callback = await callbackOf(browser)
    time.now += 600_000
    expect(await rejected(browser, callback)).toEqual([400, expect.stringContaining(expired)])
  })

  it('that denies access is reported', async () => {
    const { logInAs } = await startOpenidPortal()
    const { response } = await logInAs(undefined)
    expect([response.status, problem(response.text)]).toEqual([403, 'Example ID did not log you in.'])
  })
})

describe('a provider that is down', () => {
  it('is reported in a sentence; the service starts, local log-ins work, and it recovers', async () => {
    const lines: string[] = []
    const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
    const { newBrowser, provider, logInAs } = await startOpenidPortal({}, { logger })
    // Nothing was asked of it yet.
    expect(provider.requests).toEqual([])
    provider.isDown = true
    const browser = newBrowser()
    const { status, text, headers } = await browser.get('/portal/log-in/openid?next=%2Fportal%2Fprojects')
    expect([status, problem(text)]).toEqual([503, 'Example ID cannot be reached. Try again in a minute.'])
    expect(headers.get('retry-after')).toBe('60')
    expect((await browser.post('/portal/log-in', { name: 'ada', password })).location).toBe('/portal')
    expect(lines.join('')).toContain(
      'The metadata of the OpenID provider Example ID cannot be used: UND_ERR_SOCKET.',
    )
    provider.isDown = false
    expect((await logInAs('subject-1')).response.location).toBe('/portal')
    // What its metadata says is kept.
    provider.requests.length = 0
    await newBrowser().get('/portal/log-in/openid')
    expect(provider.requests).toEqual([])
  })

  it.each([
    ['the log-in begins', false],
    ['it is asked for tokens', true],
  ])('and accepts requests without a response when %s keeps nobody else waiting', async (_when, begun) => {
    const { newBrowser, provider, logInAs } = await startOpenidPortal()
    const limit = new AbortController()
    const [browser, other] = [newBrowser(), newBrowser()]
    const path = begun ? await callbackOf(browser) : '/portal/log-in/openid'
    const { browser: loggedIn } = begun ? await logInAs('subject-1') : { browser: undefined }
    provider.hangs = true
    provider.requests.length = 0
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal)
    onTestFinished(() => timeout.mockRestore())
    const waiting = browser.get(path)
    await expect.poll(() => provider.requests).toHaveLength(1)
    expect(timeout.mock.calls).toEqual([[5_000]])
    await other.get('/portal/log-in')
    expect((await other.post('/portal/log-in', { name: 'ada', password })).location).toBe('/portal')
    if (loggedIn) expect(await roleOf(loggedIn)).toBe('grace, Developer')
    limit.abort(new DOMException('The time limit is over.', 'TimeoutError'))
    const { status, text } = await waiting
    expect([status, problem(text)]).toEqual([503, 'Example ID cannot be reached. Try again in a minute.'])
    timeout.mockRestore()
    provider.hangs = false
    expect((await logInAs('subject-1', browser)).response.location).toBe('/portal')
  })

  it('between the log-in and its response is reported, and logged by its code alone', async () => {
    const lines: string[] = []
    const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
    const { newBrowser, provider } = await startOpenidPortal({}, { logger })
    const browser = newBrowser()
    const callback = await callbackOf(browser)
    provider.isDown = true
    const { status, text } = await browser.get(callback)
    expect([status, problem(text)]).toEqual([503, 'Example ID cannot be reached. Try again in a minute.'])
    expect(lines.join('')).toMatch(/OpenID provider Example ID failed \(unavailable\): \w+/)
    for (const secret of [clientSecret, new URL(callback).searchParams.get('code')!])
      expect(lines.join('')).not.toContain(secret)
  })

  it('whose metadata names another issuer is not used', async () => {
    const { provider } = await startOpenidPortal()
    const issuer = provider.issuer.replace('127.0.0.1', 'localhost')
    const other = await startPortal({ openidProvider: openidProvider(issuer) })
    const { status } = await other.newBrowser().get('/portal/log-in/openid')
    expect(status).toBe(503)
  })
})

describe('logging out', () => {
  it('ends the session here, and continues to the provider', async () => {
    const { logInAs, provider, service, admin } = await startOpenidPortal()
    const { browser } = await logInAs('subject-1')
    await browser.get('/portal/projects')
    const { status, text, headers } = await browser.post('/portal/log-out')
    expect(status).toBe(200)
    const url = plainText(/http-equiv="refresh" content="0; url=([^"]+)"/.exec(text)?.[1] ?? '')
    const { origin, pathname, searchParams } = new URL(url)
    expect([origin, pathname]).toEqual([provider.issuer, '/session/end'])
    expect(searchParams.get('post_logout_redirect_uri')).toBe(`${service.authUrl}/portal/log-in`)
    expect((await fetch(url)).status).toBe(200)
    expect(headers.get('content-security-policy')).toContain("form-action 'self'")
    expect(await roleOf(browser)).toBeUndefined()
    expect(await auditOf(admin)).toContain('grace logged out')
    // A session that began here ends here.
    expect((await admin.post('/portal/log-out')).location).toBe('/portal/log-in')
  })
})

describe('without local passwords', () => {
  it('nobody logs in with a password, and a link of the command logs in anybody, once', async () => {
    const provider = await startOpenidProvider()
    const options = { localPasswords: false, administratorGroups: [] }
    const service = await startTokenService({
      portal: true,
      openidProvider: openidProvider(provider.issuer, options),
    })
    onTestFinished(() => service.close())
    provider.isDown = true
    const open = () => createPortalBrowser(service.authUrl)
    const first = open()
    const setup = new URL((await service.createSetupLink())!).pathname
    expect((await first.get(setup)).text).not.toContain('type="password"')
    expect((await first.post(setup, { name: 'Ada', password })).status).toBe(422)
    expect((await first.post(setup, { name: 'Ada' })).location).toBe('/portal')
    expect(await roleOf(first)).toBe('ada, Administrator')
    expect((await first.get('/portal/account')).text).not.toContain('type="password"')
    expect((await first.post('/portal/account', { password: '', new_password: password })).status).toBe(404)

    const browser = open()
    expect((await browser.get('/portal/log-in')).text).not.toContain('type="password"')
    const link = new URL(await service.createPasswordLink('ada')).pathname
    const { text } = await browser.get(link)
    expect([text.includes('type="password"'), text.includes('<button>Log in</button>')]).toEqual([
      false,
      true,
    ])
    for (const typed of ['', password])
      expect((await browser.post('/portal/log-in', { name: 'ada', password: typed })).status).toBe(404)
    expect((await browser.post(link)).location).toBe('/portal')
    expect(await roleOf(browser)).toBe('ada, Administrator')
    expect((await open().get(link)).status).toBe(410)
  })

  it('of a person, an empty one does not log in', async () => {
    const { logInAs, newBrowser, service } = await startOpenidPortal()
    await logInAs('subject-1')
    const browser = newBrowser()
    await browser.get('/portal/log-in')
    expect((await browser.post('/portal/log-in', { name: 'grace', password: '' })).status).toBe(422)
    // A link sets none either: the groups at the provider would no longer matter.
    const link = new URL(await service.createPasswordLink('grace')).pathname
    await browser.get(link)
    expect((await browser.post(link, { new_password: password })).status).toBe(422)
    expect((await browser.post(link)).location).toBe('/portal')
    expect(await roleOf(browser)).toBe('grace, Developer')
  })
})
