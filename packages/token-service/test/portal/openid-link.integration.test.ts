import { describe, expect, it } from 'vitest'
import type { TokenServiceOptions } from '@tokenwell/token-service'
import {
  auditOf,
  callbackOf,
  problem,
  responseOf,
  roleOf,
  startOpenidPortal,
  type OpenidProviderUnderTest,
} from './openid-provider.ts'
import { password, plainText, useCheapPasswords, type PortalBrowser } from './portal-browser.ts'

useCheapPasswords()

const expired = 'This log-in was used already, has expired, or was begun in another browser.'
const linkPath = '/portal/account/openid'
const unlinkPath = `${linkPath}/unlink`
const administrators = ['portal-admins']

/** Goes to the provider from the account page, and back: the URL with its response. */
async function linkCallbackOf(browser: PortalBrowser): Promise<string> {
  await browser.get('/portal/account')
  const { text } = await browser.post(linkPath)
  return responseOf(new URL(plainText(/http-equiv="refresh" content="0; url=([^"]+)"/.exec(text)?.[1] ?? '')))
}

async function link(browser: PortalBrowser, provider: OpenidProviderUnderTest, subject: string) {
  provider.subject = subject
  return browser.get(await linkCallbackOf(browser))
}

async function accountText(browser: PortalBrowser): Promise<string> {
  return plainText((await browser.get('/portal/account')).text).replaceAll(/\s+/g, ' ')
}

async function startWithAccount(options: TokenServiceOptions = {}) {
  const portal = await startOpenidPortal({}, options)
  portal.provider.accounts.set('s', { preferred_username: 'countess', groups: administrators })
  return portal
}

describe('linking an account at the OpenID provider', () => {
  it('makes both log-ins lead to one developer, until it is unlinked', async () => {
    const { admin, provider, logInAs } = await startWithAccount()
    expect(await accountText(admin)).toContain('Link your account at Example ID')
    const { status, location } = await link(admin, provider, 's')
    expect([status, location]).toEqual([303, '/portal/account'])
    const page = await accountText(admin)
    expect(page).toContain('The accounts are linked. You can log in with both.')
    expect(page).toContain('Unlink your account at Example ID')
    const { browser } = await logInAs('s')
    expect([await roleOf(browser), await roleOf(admin)]).toEqual(['ada, Administrator', 'ada, Administrator'])
    // Again, nothing changes.
    expect((await link(admin, provider, 's')).location).toBe('/portal/account')

    await admin.get('/portal/account')
    expect((await admin.post(unlinkPath)).location).toBe('/portal/account')
    expect(await accountText(admin)).toContain('The accounts are no longer linked.')
    expect([await roleOf(browser), await roleOf(admin)]).toEqual([undefined, 'ada, Administrator'])
    expect(await roleOf((await logInAs('s')).browser)).toBe('countess, Administrator')
    const audit = await auditOf(admin)
    expect(audit.match(new RegExp(`ada linked their account at ${provider.issuer}`, 'g'))).toHaveLength(1)
    expect(audit).toMatch(
      new RegExp(`ada unlinked their account at ${provider.issuer} subject s → becomes none`),
    )
  })

  it('rejects an account with which somebody else logs in here', async () => {
    const { admin, provider, logInAs } = await startWithAccount()
    const { browser } = await logInAs('subject-1')
    const { status, text } = await link(admin, provider, 'subject-1')
    expect([status, problem(text)]).toEqual([
      403,
      'Somebody else here logs in with this account at Example ID. Ask an administrator to remove them first.',
    ])
    expect([await roleOf(browser), await roleOf(admin)]).toEqual(['grace, Developer', 'ada, Administrator'])
    expect(await roleOf((await logInAs('subject-1')).browser)).toBe('grace, Developer')
  })

  it('rejects a second account, and one in no group', async () => {
    const { admin, provider, logInAs } = await startWithAccount()
    provider.accounts.set('outside', { preferred_username: 'ada', groups: ['others'] })
    const outside = await link(admin, provider, 'outside')
    expect([outside.status, problem(outside.text)]).toEqual([
      403,
      'You are in no group at Example ID that may use this portal.',
    ])
    await logInAs('outside')
    expect(await roleOf(admin)).toBe('ada, Administrator')
    await link(admin, provider, 's')
    const second = await link(admin, provider, 'subject-1')
    expect([second.status, problem(second.text)]).toEqual([
      403,
      'Another account at Example ID is linked already. Unlink it first.',
    ])
    expect(await roleOf((await logInAs('subject-1')).browser)).toBe('grace, Developer')
  })

  it('ends in the session in which it began, and nowhere else', async () => {
    const { admin, provider, logInAs, newBrowser, developer } = await startWithAccount()
    provider.subject = 's'
    const victim = await developer('lin')
    const callback = await linkCallbackOf(admin)
    const cookie = admin.cookies.get('tokenwell_portal_log_in')!
    for (const other of [victim, newBrowser()]) {
      other.cookies.set('tokenwell_portal_log_in', cookie)
      const { status, text } = await other.get(callback)
      expect([status, problem(text)]).toEqual([400, expect.stringContaining(expired)])
    }
    // A log-in that another session began neither links anything here.
    const logIn = await callbackOf(newBrowser())
    expect((await admin.get(logIn)).status).toBe(400)
    // When the session has ended, the cookie of the browser remains.
    const ended = admin.cookies.get('tokenwell_portal')!
    await admin.get('/portal/account')
    await admin.post('/portal/log-out')
    admin.cookies.set('tokenwell_portal', ended)
    expect((await admin.get(callback)).status).toBe(400)
    expect(await roleOf((await logInAs('s')).browser)).toBe('countess, Administrator')
    expect(await roleOf(victim)).toBe('lin, Developer')
  })

  it('begins and ends within 15 minutes of a log-in', async () => {
    const time = { now: Date.now() }
    const { admin, provider, newBrowser, logInAs } = await startWithAccount({
      clock: { now: () => time.now },
    })
    const logInAgain = '/portal/log-in?next=%2Fportal%2Faccount'
    const logIn = async () => {
      const browser = newBrowser()
      await browser.get('/portal/log-in')
      await browser.post('/portal/log-in', { name: 'ada', password })
      await browser.get('/portal/account')
      return browser
    }
    time.now += 15 * 60_000
    await admin.get('/portal/account')
    expect((await admin.post(linkPath)).location).toBe(logInAgain)
    expect(await roleOf(admin)).toBeUndefined()
    const browser = await logIn()
    expect((await link(browser, provider, 's')).location).toBe('/portal/account')
    time.now += 15 * 60_000
    await browser.get('/portal/account')
    expect((await browser.post(unlinkPath)).location).toBe(logInAgain)
    time.now = Date.now()
    expect(await roleOf((await logInAs('s')).browser)).toBe('ada, Administrator')
  })

  it('is not undone where it is the only way to log in', async () => {
    const { logInAs } = await startWithAccount()
    const { browser } = await logInAs('subject-1')
    expect(await accountText(browser)).not.toContain('ink your account')
    expect((await browser.post(unlinkPath)).status).toBe(404)
    expect(await roleOf((await logInAs('subject-1')).browser)).toBe('grace, Developer')
  })

  it('is reported in a sentence when the provider denies it or is down', async () => {
    const { admin, provider } = await startWithAccount()
    provider.subject = undefined
    const denied = await admin.get(await linkCallbackOf(admin))
    expect([denied.status, problem(denied.text)]).toEqual([403, 'Example ID did not log you in.'])
    provider.subject = 's'
    const callback = await linkCallbackOf(admin)
    provider.isDown = true
    const { status, text } = await admin.get(callback)
    expect([status, problem(text)]).toEqual([503, 'Example ID cannot be reached. Try again in a minute.'])
    expect(text).toContain('href="/portal/account"')
    expect(await roleOf(admin)).toBe('ada, Administrator')
  })
})
