import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { relyingPartyOf } from '../../src/portal/session/passkeys.ts'
import {
  base64url,
  begin,
  createAuthenticator,
  startWithPasskeys,
  type Authenticator,
  type Deviation,
} from './passkey-authenticator.ts'
import { password, plainText, startPortal, useCheapPasswords, type PortalBrowser } from './portal-browser.ts'

useCheapPasswords()

const minute = 60_000
const incorrect = 'The name or password is incorrect.'

const codesIn = (text: string) =>
  plainText(/<code id="codes">([^<]*)</.exec(text)?.[1] ?? '')
    .split('\n')
    .filter(Boolean)

describe('a developer with a passkey', () => {
  it('adds it, gets ten recovery codes once, and logs in with it', async () => {
    const { admin, add, logIn, events, newBrowser, storage } = await startWithPasskeys()
    const authenticator = createAuthenticator()
    const added = await add(admin, authenticator)
    const codes = codesIn(added.text)
    expect([added.status, codes.length, new Set(codes).size]).toEqual([200, 10, 10])
    for (const code of codes) expect(code).toMatch(/^(?:[\da-hjkmnp-tv-z]{4}-){2}[\da-hjkmnp-tv-z]{4}$/)
    const stored = JSON.stringify(
      await storage.passkeys.recoveryCodes((await storage.developers.list())[0]!.id),
    )
    for (const code of codes) expect(stored).not.toContain(code)

    const browser = newBrowser()
    const { status, location } = await logIn(authenticator, {}, browser)
    expect([status, location]).toEqual([303, '/portal'])
    const { text } = await browser.get('/portal/account')
    expect(plainText(text)).toMatch(/laptop\s+just now\s+just now/)
    expect(text).not.toContain(codes[0])
    expect(await add(admin, createAuthenticator(), {}, '')).toMatchObject({
      status: 303,
      location: '/portal/account',
    })
    expect(await events()).toEqual(
      expect.arrayContaining([
        ['passkey_added', 'laptop', 1],
        ['passkey_added', 'Passkey', 1],
        ['recovery_codes_created', undefined, 1],
        ['logged_in', 'passkey', 1],
      ]),
    )
    // Passwords are on until they are switched off.
    expect((await admin.get('/portal/account')).text).toContain('10 of 10 recovery codes left')
  })

  it('continues after the log-in where the browser wanted to go', async () => {
    const { admin, add, newBrowser } = await startWithPasskeys()
    const authenticator = createAuthenticator()
    await add(admin, authenticator)
    const browser = newBrowser()
    await browser.get('/portal/log-in?next=%2Fportal%2Fprojects')
    const credential = authenticator.get(await begin(browser, '/portal/log-in/passkey/options'))
    const form = { credential, next: '/portal/projects' }
    expect((await browser.post('/portal/log-in/passkey', form)).location).toBe('/portal/projects')
  })

  it('is not logged in by a response that differs in anything', { timeout: 60_000 }, async () => {
    const { admin, add, logIn, newBrowser, events } = await startWithPasskeys()
    const authenticator = createAuthenticator()
    await add(admin, authenticator)
    expect((await logIn(authenticator)).location).toBe('/portal')
    const deviations: Record<string, Deviation> = {
      'the counter of the last log-in': { counter: 1 },
      'no counter after one': { counter: 0 },
      'another origin': { origin: 'https://auth.example.com.evil.example' },
      'another port': { origin: 'https://auth.example.com:8443' },
      'another relying party': { rpId: 'example.com' },
      'another challenge': { challenge: base64url(randomBytes(32)) },
      'the type of a registration': { type: 'webauthn.create' },
      'no user verification': { flags: 0x01 },
      'no user presence': { flags: 0x04 },
      'another person': { userHandle: base64url('another') },
      'another signature': { signature: base64url(randomBytes(70)) },
      // Whom it is about is not known.
      'no person': { userHandle: '' },
      'an unknown passkey': { id: base64url(randomBytes(16)) },
      'an invalid ID': { id: 'a\0b' },
    }
    for (const [name, deviation] of Object.entries(deviations)) {
      const browser = newBrowser()
      const { status, text } = await logIn(authenticator, deviation, browser)
      expect([name, status, text.includes('The passkey was not accepted.')]).toEqual([name, 422, true])
      expect([name, (await browser.get('/portal/projects')).status]).toEqual([name, 303])
    }
    expect((await logIn(authenticator)).location).toBe('/portal')
    const failed = (await events()).filter(([event]) => event === 'log_in_failed')
    const failures = (name?: string) =>
      failed.reduce((sum, [, detail, count]) => sum + (detail === name ? count : 0), 0)
    expect([failures('ada'), failures()]).toEqual([11, 3])
  })

  it('is not logged in by the key of somebody else, or by text that is no response', async () => {
    const { admin, add, logIn, newBrowser } = await startWithPasskeys()
    const authenticator = createAuthenticator()
    await add(admin, authenticator)
    const { id: userHandle = '' } = (await begin(admin, '/portal/account/passkeys/options')).user ?? {}
    const forger = createAuthenticator(authenticator.id)
    expect((await logIn(forger, { userHandle })).status).toBe(422)
    for (const credential of ['', 'null', '{}', '[', '{"id":"x"}', `{"id":"${authenticator.id}"}`]) {
      const browser = newBrowser()
      await browser.get('/portal/log-in')
      await begin(browser, '/portal/log-in/passkey/options')
      expect((await browser.post('/portal/log-in/passkey', { credential })).status).toBe(422)
    }
  })

  it('is logged in once by a response, within five minutes, in the same browser', async () => {
    const { admin, add, newBrowser, time } = await startWithPasskeys()
    const authenticator = createAuthenticator()
    await add(admin, authenticator)
    const begun = async () => {
      const browser = newBrowser()
      await browser.get('/portal/log-in')
      const options = await begin(browser, '/portal/log-in/passkey/options')
      const finish = async (credential: string, by = browser) =>
        (await by.post('/portal/log-in/passkey', { credential })).status
      return { browser, options, finish }
    }
    // With a copy of the cookie, neither the same response nor another one for that challenge.
    const first = await begun()
    const copy = newBrowser()
    for (const [name, value] of first.browser.cookies) copy.cookies.set(name, value)
    copy.csrfToken = first.browser.csrfToken
    const credential = authenticator.get(first.options, { counter: 100 })
    expect(await first.finish(credential)).toBe(303)
    const begunCookie = copy.cookies.get('tokenwell_portal_log_in')!
    for (const replayed of [credential, authenticator.get(first.options, { counter: 101 })]) {
      copy.cookies.set('tokenwell_portal_log_in', begunCookie)
      expect(await first.finish(replayed, copy)).toBe(422)
    }

    const [one, other] = [await begun(), await begun()]
    expect(await other.finish(authenticator.get(one.options, { counter: 102 }))).toBe(422)
    const late = await begun()
    time.now += 5 * minute
    expect(await late.finish(authenticator.get(late.options, { counter: 103 }))).toBe(422)
    const punctual = await begun()
    time.now += 5 * minute - 1
    expect(await punctual.finish(authenticator.get(punctual.options, { counter: 104 }))).toBe(303)
  })

  it('leaves nothing in the storage that others could fill', async () => {
    const { admin, add, logIn, storage, time } = await startWithPasskeys()
    const authenticator = createAuthenticator()
    await add(admin, authenticator)
    const rows = () => storage.assertions.purge(time.now + 60 * minute)
    expect(await rows()).toBe(1)
    for (let attempt = 0; attempt < 5; attempt += 1)
      await logIn(authenticator, { origin: 'https://evil.example' })
    expect(await rows()).toBe(0)
    await logIn(authenticator)
    expect(await rows()).toBe(1)
  })
})

describe('a passkey', () => {
  it('is not added if its response differs in anything', async () => {
    const { admin, add, storage } = await startWithPasskeys()
    const deviations: Record<string, Deviation> = {
      'another origin': { origin: 'https://evil.example' },
      'another relying party': { rpId: 'example.com' },
      'another challenge': { challenge: base64url(randomBytes(32)) },
      'the type of a log-in': { type: 'webauthn.get' },
      'no user verification': { flags: 0x41 },
      'a certificate': { attestation: '\x66packed\x67attStmt\xa1\x63x5c\x81\x41\0' },
      'an attestation of the vendor': { attestation: '\x65apple\x67attStmt\xa0' },
    }
    for (const [name, deviation] of Object.entries(deviations)) {
      const { status, text } = await add(admin, createAuthenticator(), deviation)
      expect([name, status, text.includes('The passkey was not added')]).toEqual([name, 422, true])
    }
    const [ada] = await storage.developers.list()
    expect(await storage.passkeys.list(ada!.id)).toEqual([])
    expect(await storage.passkeys.recoveryCodes(ada!.id)).toEqual([])
  })

  it('belongs to one person and to the session that began', async () => {
    const { admin, developer, add, newBrowser, logIn } = await startWithPasskeys()
    const grace = await developer('grace')
    const authenticator = createAuthenticator()
    await add(admin, authenticator)
    expect((await add(grace, createAuthenticator(authenticator.id))).status).toBe(422)
    // Another session, and a challenge for something else.
    await admin.get('/portal/account')
    const options = await begin(admin, '/portal/account/passkeys/options')
    await grace.get('/portal/account')
    grace.cookies.set('tokenwell_portal_log_in', admin.cookies.get('tokenwell_portal_log_in')!)
    const credential = createAuthenticator().create(options)
    expect((await grace.post('/portal/account/passkeys', { credential })).status).toBe(422)
    const browser = newBrowser()
    await browser.get('/portal/log-in')
    const other = await begin(browser, '/portal/log-in/passkey/options')
    admin.cookies.set('tokenwell_portal_log_in', browser.cookies.get('tokenwell_portal_log_in')!)
    await admin.get('/portal/account')
    const form = { credential: createAuthenticator().create({ ...other, rp: { id: 'auth.example.com' } }) }
    expect((await admin.post('/portal/account/passkeys', form)).status).toBe(422)
    expect((await logIn(authenticator)).location).toBe('/portal')
  })

  it('is removed by its owner, with the recovery codes if it is the last', async () => {
    const { admin, developer, add, logIn, recover } = await startWithPasskeys()
    const grace = await developer('grace')
    const [one, two] = [createAuthenticator(), createAuthenticator()]
    const [code = ''] = codesIn((await add(admin, one)).text)
    await add(admin, two, {}, 'phone')
    await grace.get('/portal/account')
    const remove = (browser: PortalBrowser, { id }: Authenticator) =>
      browser.post('/portal/account/passkeys/removal', { passkey: id })
    expect((await remove(grace, one)).status).toBe(404)
    expect((await remove(admin, one)).status).toBe(303)
    expect([(await logIn(one)).status, (await logIn(two)).status]).toEqual([422, 303])
    expect((await remove(admin, two)).status).toBe(303)
    expect((await logIn(two)).status).toBe(422)
    expect((await recover('ada', code)).status).toBe(422)
    await admin.get('/portal/account')
    expect((await admin.post('/portal/account/recovery-codes')).status).toBe(404)
  })

  it('requires a log-in within the last 15 minutes, as every change of how to log in does', async () => {
    const { admin, add, time } = await startWithPasskeys()
    time.now += 15 * minute - 1
    expect((await add(admin, createAuthenticator())).status).toBe(200)
    time.now += 1
    const paths = ['passkeys/options', 'passkeys', 'passkeys/removal', 'recovery-codes', 'password']
    for (const path of paths) {
      await admin.post('/portal/log-in', { name: 'ada', password })
      await admin.get('/portal/account')
      time.now += 15 * minute
      const { status, location } = await admin.post(`/portal/account/${path}`, { password_log_in: 'off' })
      expect([path, status, location]).toEqual([path, 303, '/portal/log-in?next=%2Fportal%2Faccount'])
      expect((await admin.get('/portal/log-in?next=%2Fportal%2Faccount')).text).toContain('Log in again')
    }
  })
})

describe('without the password', () => {
  async function passkeyOnly() {
    const started = await startWithPasskeys()
    const authenticator = createAuthenticator()
    const codes = codesIn((await started.add(started.admin, authenticator)).text)
    await started.admin.get('/portal/account')
    const switchTo = (value: string) =>
      started.admin.post('/portal/account/password', { password_log_in: value })
    expect((await switchTo('off')).location).toBe('/portal/account')
    return { ...started, authenticator, codes, switchTo }
  }

  it('a developer logs in with the passkey, and the right password is as wrong as any other', async () => {
    const { authenticator, logIn, logInWithPassword, switchTo, admin, events } = await passkeyOnly()
    const plain = (text: string) => text.replaceAll(/value="[^"]*"/g, '')
    const [right, wrong] = [
      await logInWithPassword('ada'),
      await logInWithPassword('ada', 'another password'),
    ]
    expect([right.status, wrong.status, plain(right.text)]).toEqual([422, 422, plain(wrong.text)])
    expect(right.text).toContain(incorrect)
    expect((await logIn(authenticator)).location).toBe('/portal')
    const form = { password, new_password: 'another long password' }
    await admin.get('/portal/account')
    expect((await admin.post('/portal/account', form)).status).toBe(404)
    const removal = await admin.post('/portal/account/passkeys/removal', { passkey: authenticator.id })
    expect([removal.status, (await logIn(authenticator)).status]).toEqual([409, 303])
    await switchTo('on')
    expect((await logInWithPassword('ada')).location).toBe('/portal')
    expect((await events()).map(([event]) => event)).toEqual(
      expect.arrayContaining(['password_switched_off', 'password_switched_on', 'log_in_failed']),
    )
  })

  it('nobody is without a passkey', async () => {
    const { admin, developer, logInWithPassword } = await startWithPasskeys()
    const grace = await developer('grace')
    await grace.get('/portal/account')
    expect((await grace.post('/portal/account/password', { password_log_in: 'off' })).status).toBe(409)
    expect((await logInWithPassword('grace')).location).toBe('/portal')
    expect((await admin.get('/portal/account')).text).not.toContain('Switch off the password')
  })

  it('a recovery code and the name log in, once', { timeout: 60_000 }, async () => {
    const { codes, recover, developer, events, admin } = await passkeyOnly()
    await developer('grace')
    const [code = '', second = '', third = ''] = codes
    expect((await recover('grace', code)).status).toBe(422)
    expect((await recover('nobody', code)).status).toBe(422)
    expect((await recover('ada', '')).status).toBe(422)
    const typed = code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'l')
    expect((await recover(' ADA', typed)).location).toBe('/portal/account')
    const again = await recover('ada', code)
    expect([again.status, again.text]).toEqual([
      422,
      expect.stringContaining('The name or recovery code is incorrect.'),
    ])
    expect(again.text).not.toContain(code)
    const outcomes = await Promise.all([1, 2].map(() => recover('ada', second)))
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([303, 422]))
    const logged = await events()
    for (const entry of [
      ['recovery_code_used', undefined, 1],
      ['logged_in', 'recovery code', 1],
    ]) {
      expect(logged).toContainEqual(entry)
    }
    await admin.get('/portal/account')
    const renewed = codesIn((await admin.post('/portal/account/recovery-codes')).text)
    expect(renewed).toHaveLength(10)
    expect((await recover('ada', third)).status).toBe(422)
    expect((await recover('ada', renewed[0]!)).status).toBe(303)
  })

  it('wrong recovery codes are limited together with wrong passwords', { timeout: 60_000 }, async () => {
    const { codes, recover, logInWithPassword, time, newBrowser } = await passkeyOnly()
    for (let guess = 0; guess < 5; guess += 1) {
      expect((await recover('ada', `guess-${guess}`)).status).toBe(422)
      expect((await logInWithPassword('ada', `guess ${guess}`)).status).toBe(422)
    }
    const limited = await recover('ada', codes[0]!, newBrowser())
    expect([limited.status, limited.text]).toEqual([
      429,
      expect.stringContaining('Too many wrong codes. Try again in'),
    ])
    time.now += 5 * minute
    expect((await recover('ada', codes[0]!)).status).toBe(303)
  })

  it('a link from an administrator sets a password, which works again', async () => {
    const { service, newBrowser, logInWithPassword } = await passkeyOnly()
    const { pathname } = new URL(await service.createPasswordLink('ada'))
    const browser = newBrowser()
    await browser.get(pathname)
    const form = { new_password: 'another long password' }
    expect((await browser.post(pathname, form)).location).toBe('/portal')
    expect((await logInWithPassword('ada', form.new_password)).location).toBe('/portal')
  })

  it('an administrator, or the command, removes lost passkeys: the password works again', async () => {
    const { admin, developer, send, authenticator, codes, events, ...started } = await passkeyOnly()
    const { add, logIn, logInWithPassword, recover } = started
    const grace = await developer('grace')
    const lost = createAuthenticator()
    await add(grace, lost)
    await grace.get('/portal/account')
    await grace.post('/portal/account/password', { password_log_in: 'off' })
    const { text } = await admin.get('/portal/developers')
    const paths = [...text.matchAll(/action="([^"]+\/passkeys-removal)"/g)].map(([, path]) => path!)
    expect(paths).toHaveLength(2)
    expect((await grace.post(paths[1]!)).status).toBe(403)
    expect((await admin.post(paths[1]!)).location).toBe('/portal/developers')
    expect([(await logIn(lost)).status, (await logInWithPassword('grace')).status]).toEqual([422, 303])
    expect((await grace.get('/portal/projects')).status).toBe(303)

    expect((await send('DELETE', '/developers/Ada/passkeys')).status).toBe(204)
    expect((await send('DELETE', '/developers/nobody/passkeys')).status).toBe(404)
    expect((await admin.get('/portal/projects')).status).toBe(303)
    expect([(await logIn(authenticator)).status, (await recover('ada', codes[0]!)).status]).toEqual([
      422, 422,
    ])
    expect((await logInWithPassword('ada')).location).toBe('/portal')
    const removed = (await events()).filter(([event]) => event === 'passkeys_removed')
    expect(removed).toEqual([
      ['passkeys_removed', 'ada', 1],
      ['passkeys_removed', 'grace', 1],
    ])
  })
})

describe('passkeys are offered', () => {
  it.each([
    ['https://auth.example.com/tokens', { id: 'auth.example.com', origin: 'https://auth.example.com' }],
    ['https://tokens:8443', { id: 'tokens', origin: 'https://tokens:8443' }],
    ['http://localhost:8080', { id: 'localhost', origin: 'http://localhost:8080' }],
    ['http://auth.localhost', { id: 'auth.localhost', origin: 'http://auth.localhost' }],
    ['http://auth.example.com', undefined],
    ['http://127.0.0.1:8080', undefined],
    ['https://127.0.0.1', undefined],
    ['https://2130706433', undefined],
    ['https://[::1]:8443', undefined],
    ['http://notlocalhost', undefined],
  ])('at %s as %j', (baseUrl, expected) => {
    expect(relyingPartyOf({ baseUrl })).toEqual(expected)
  })

  it('neither at an IP address nor if local passwords are off', async () => {
    const { admin, newBrowser } = await startPortal()
    const browser = newBrowser()
    const { text } = await browser.get('/portal/log-in')
    expect(text).not.toContain('passkey.js')
    expect((await browser.post('/portal/log-in/passkey/options')).status).toBe(404)
    expect((await admin.get('/portal/account')).text).toContain('Passkeys need HTTPS and a host name')
    expect((await admin.post('/portal/account/passkeys/options')).status).toBe(404)
  })
})
