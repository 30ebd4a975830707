import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { auditOf, clientSecret, roleOf, startOpenidPortal } from './openid-provider.ts'
import { useCheapPasswords } from './portal-browser.ts'

useCheapPasswords()

const developers = ['portal-developers']

type Claims = Readonly<Record<string, unknown>>

describe('a log-out at the provider', () => {
  const path = '/portal/log-out/back-channel'
  const event = 'http://schemas.openid.net/event/backchannel-logout'

  /** Somebody is logged in; `claims` are those of a valid logout token. */
  async function start() {
    const portal = await startOpenidPortal()
    const { browser } = await portal.logInAs('subject-1')
    const seconds = Math.floor(Date.now() / 1000)
    const claims = (more: Claims = {}): Claims => ({
      iss: portal.provider.issuer,
      aud: 'portal',
      sub: 'subject-1',
      iat: seconds,
      exp: seconds + 120,
      jti: randomUUID(),
      events: { [event]: {} },
      ...more,
    })
    const send = async (token: string | undefined, more: RequestInit = {}) => {
      const body = new URLSearchParams(token === undefined ? {} : { logout_token: token })
      const response = await fetch(`${portal.service.authUrl}${path}`, { method: 'POST', body, ...more })
      expect(response.headers.get('cache-control')).toBe('no-store')
      return response.status
    }
    return { ...portal, browser, claims, send }
  }

  it('ends the session that it began, and no other', async () => {
    const { provider, logInAs, admin } = await startOpenidPortal()
    const first = await logInAs('subject-1')
    const second = await logInAs('subject-1')
    await provider.logOut(first.atProvider)
    expect([await roleOf(first.browser), await roleOf(second.browser)]).toEqual([
      undefined,
      'grace, Developer',
    ])
    expect(await roleOf(admin)).toBe('ada, Administrator')
    expect(await auditOf(admin)).toContain('The service (Example ID) ended the sessions of grace')
  })

  it('of a person ends all their sessions that it began', async () => {
    const { provider, logInAs, admin, service, newBrowser, browser, claims, send } = await start()
    const { browser: second } = await logInAs('subject-1')
    provider.accounts.set('subject-2', { preferred_username: 'lin', groups: developers })
    const { browser: other } = await logInAs('subject-2')
    // A session of the same person that began with a link.
    const local = newBrowser()
    const link = new URL(await service.createPasswordLink('lin')).pathname
    await local.get(link)
    await local.post(link)
    const { browser: again } = await logInAs('subject-2')
    expect(await roleOf(other)).toBeUndefined()
    expect(await send(await provider.sign(claims()))).toBe(200)
    expect([await roleOf(browser), await roleOf(second)]).toEqual([undefined, undefined])
    expect(await send(await provider.sign(claims({ sub: 'subject-2' })))).toBe(200)
    expect([await roleOf(again), await roleOf(local)]).toEqual([undefined, 'lin, Developer'])
    expect(await roleOf(admin)).toBe('ada, Administrator')
    // Nobody is logged in any more, or ever was.
    expect(await send(await provider.sign(claims()))).toBe(200)
    expect(await send(await provider.sign(claims({ sub: 'unknown', sid: 'unknown' })))).toBe(200)
  })

  it('of a session of somebody else ends nothing', async () => {
    const { provider, browser, claims, send } = await start()
    provider.requests.length = 0
    expect(await send(await provider.sign(claims({ sid: 'another' })))).toBe(200)
    expect(await send(await provider.sign(claims({ sub: 'subject-2' })))).toBe(200)
    expect(await roleOf(browser)).toBe('grace, Developer')
    expect(provider.requests).toEqual(['/jwks'])
  })

  it.each<[string, Claims, object?]>([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'other' }],
    ['several audiences', { aud: ['portal', 'other'] }],
    ['no audience', { aud: undefined }],
    ['a past expiry', { exp: 1_700_000_000 }],
    ['no expiry', { exp: undefined }],
    ['an expiry in years', { exp: 4_000_000_000 }],
    ['an issue time in the future', { iat: 4_000_000_000 }],
    ['no issue time', { iat: undefined }],
    ['no events', { events: undefined }],
    ['events of another kind', { events: { 'https://example.com/other': {} } }],
    ['an event without an object', { events: { [event]: true } }],
    ['a list of events', { events: [event] }],
    ['the nonce of an ID token', { nonce: 'n' }],
    ['no JWT ID', { jti: undefined }],
    ['an empty JWT ID', { jti: '' }],
    ['neither a person nor a session', { sub: undefined }],
    ['an empty session', { sid: '' }],
    ['a list as session', { sid: ['a'] }],
    ['an empty person and a session', { sub: '', sid: 'a' }],
    ['the type of an access token', {}, { typ: 'at+jwt' }],
    ['an unknown key', {}, { kid: 'key-2' }],
    ['a type that only ends like it', {}, { typ: 'not-logout+jwt' }],
  ])('is rejected with %s', async (_what, claim, header) => {
    const { provider, browser, claims, send } = await start()
    expect(await send(await provider.sign(claims(claim), header))).toBe(400)
    expect(await roleOf(browser)).toBe('grace, Developer')
  })

  it.each(['logout+jwt', 'JWT', 'application/logout+jwt'])('is accepted with the type %s', async (typ) => {
    const { provider, browser, claims, send } = await start()
    expect(await send(await provider.sign(claims(), { typ }))).toBe(200)
    expect(await roleOf(browser)).toBeUndefined()
  })

  it('is rejected without a signature of the provider', async () => {
    const { provider, browser, claims, send, admin } = await start()
    const signed = await provider.sign(claims())
    const [header, payload = ''] = signed.split('.')
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const others = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(clientSecret.padEnd(32)))
    const other = (await provider.sign(claims())).split('.')[2]
    for (const token of [
      '',
      'x',
      `${none}.${payload}.`,
      others,
      `${header}.${payload}.${other}`,
      `${signed}x`,
    ])
      expect([token, await send(token)]).toEqual([token, 400])
    expect(await send(undefined)).toBe(400)
    expect(await send(undefined, { body: JSON.stringify({ logout_token: signed }) })).toBe(400)
    expect(await send(undefined, { body: `logout_token=${signed}&logout_token=${signed}` })).toBe(400)
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const twice = `logout_token=${signed}&logout_token=${signed}`
    expect(await send(undefined, { body: twice, headers: type })).toBe(400)
    expect(await roleOf(browser)).toBe('grace, Developer')
    await expect
      .poll(() => auditOf(admin))
      .toContain('A log-out by the OpenID provider was rejected: ERR_JWS_INVALID')
  })

  it('is accepted once', async () => {
    const { provider, logInAs, claims, send } = await start()
    const token = await provider.sign(claims())
    const statuses = await Promise.all([send(token), send(token)])
    expect(new Set(statuses)).toEqual(new Set([200, 400]))
    const { browser } = await logInAs('subject-1')
    expect(await send(token)).toBe(400)
    expect(await roleOf(browser)).toBe('grace, Developer')
  })

  it('is rejected while its keys cannot be fetched, and accepted later', async () => {
    const { provider, browser, claims, send, admin } = await start()
    provider.isDown = true
    const token = await provider.sign(claims())
    expect(await send(token)).toBe(400)
    expect(await roleOf(browser)).toBe('grace, Developer')
    await expect.poll(() => auditOf(admin)).toContain('by the OpenID provider was rejected: unavailable')
    provider.isDown = false
    // After a failure, the keys are not requested for a second.
    await expect.poll(() => send(token)).toBe(200)
    expect(await roleOf(browser)).toBeUndefined()
  })
})
