import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startTokenService } from '@tokenwell/token-service'
import { describeIssue } from '../../src/runtime/parse-value.ts'
import { developerName } from '../../src/features/sessions/developer-name.ts'
import { isPassword, knownDevice, newPassword } from '../../src/features/sessions/password.ts'
import {
  createPortalBrowser,
  logInPath,
  password,
  startPortal,
  useCheapPasswords,
  type PortalBrowser,
  type PortalUnderTest,
} from './portal-browser.ts'

const minute = 60_000
const cookieName = 'tokenwell_portal'
const isSoak = process.env['TOKENWELL_SOAK'] === '1'

function movableClock() {
  const time = { now: Date.UTC(2026, 0, 31, 12) }
  return { time, clock: { now: () => time.now } }
}

async function logIn({ newBrowser }: PortalUnderTest, name: string, typed: string) {
  const browser = newBrowser()
  await browser.get('/portal/log-in')
  return { browser, response: await browser.post('/portal/log-in', { name, password: typed }) }
}

describe('the first developer', () => {
  useCheapPasswords()

  async function started() {
    const { time, clock } = movableClock()
    const service = await startTokenService({ clock, portal: true })
    onTestFinished(() => service.close())
    const browser = createPortalBrowser(service.authUrl)
    const link = async () => new URL((await service.createSetupLink()) ?? '').pathname
    return { time, service, browser, link }
  }

  it('joins with a link that works once', async () => {
    const { service, browser, link } = await started()
    const [path, other] = [await link(), await link()]
    expect((await browser.get(path)).status).toBe(200)
    expect((await browser.get(path)).status).toBe(200)
    const { status, location } = await browser.post(path, { name: 'Ada', password })
    expect([status, location]).toEqual([303, '/portal'])
    expect((await browser.get(path)).status).toBe(410)
    expect((await browser.post(path, { name: 'Eve', password })).status).toBe(410)
    // Another link for the first developer says so before its form, and does not create a second one.
    const second = await browser.get(other)
    expect([second.status, second.text]).toEqual([
      410,
      expect.stringContaining('There is an administrator already'),
    ])
    expect((await browser.post(other, { name: 'Eve', password })).status).toBe(410)
    expect(await service.createSetupLink()).toBeUndefined()
  })

  it('is only one when two links are used at the same time', async () => {
    const { service, link } = await started()
    const paths = [await link(), await link()]
    const browsers = paths.map(() => createPortalBrowser(service.authUrl))
    await Promise.all(browsers.map((browser, index) => browser.get(paths[index] ?? '')))
    const responses = await Promise.all(
      browsers.map((browser, index) => browser.post(paths[index] ?? '', { name: `dev${index}`, password })),
    )
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([303, 410])
  })

  it('has 15 minutes to join', async () => {
    const { time, browser, link } = await started()
    const path = await link()
    time.now += 15 * minute - 1
    expect((await browser.get(path)).status).toBe(200)
    time.now += 1
    expect((await browser.get(path)).status).toBe(410)
    expect((await browser.post(path, { name: 'Ada', password })).status).toBe(410)
  })

  it.each([
    ['a guessed link', '/portal/join/AAAA'],
    ['an empty link', '/portal/join/'],
    ['a digest', '/portal/join/%00'],
  ])('does not join by %s', async (_name, path) => {
    const { browser, link } = await started()
    await link()
    expect((await browser.get(path)).status).toBeGreaterThanOrEqual(400)
  })

  it.each([
    [{ name: 'Ada', password: 'short' }, 'at least 12 characters'],
    [{ name: 'Ada', password: 'x'.repeat(201) }, 'at most 200 characters'],
    [{ name: '', password }, 'This field is required'],
    [{ name: '<script>', password }, 'only letters, digits'],
    [{ name: '_ada', password }, 'Start with a letter or digit'],
    [{ name: 'a\u0001b', password }, 'control or invisible characters'],
    [{ name: 'a\u202eb', password }, 'control or invisible characters'],
    [{ name: 'a\u200bb', password }, 'control or invisible characters'],
    [{ name: 'x'.repeat(61), password }, 'at most 60'],
  ])('sees what is wrong with %j and can use the link again', async (form, message) => {
    const { browser, link } = await started()
    const path = await link()
    await browser.get(path)
    const { status, text } = await browser.post(path, form)
    expect([status, text]).toEqual([422, expect.stringContaining(message)])
    expect(text).not.toContain(`value="${password}"`)
    expect((await browser.post(path, { name: 'Ada', password })).status).toBe(303)
  })
})

describe('logging in', () => {
  useCheapPasswords()

  it('ignores the case of the name, but not of the password', async () => {
    const portal = await startPortal()
    expect((await logIn(portal, ' ADA ', password)).response.location).toBe('/portal')
    expect((await logIn(portal, 'ada', password.toUpperCase())).response.status).toBe(422)
    expect((await logIn(portal, 'ada', '')).response.status).toBe(422)
    expect((await logIn(portal, 'a\u0001da', password)).response.status).toBe(422)
    expect((await logIn(portal, 'a\0da', password)).response.status).toBe(400)
  })

  it('responds to an unknown name as to a wrong password', async () => {
    const portal = await startPortal()
    const plain = (text: string) => text.replaceAll(/value="[^"]*"/g, '')
    const wrong = (await logIn(portal, 'ada', 'wrong password')).response
    const unknown = (await logIn(portal, 'eve', 'wrong password')).response
    expect([unknown.status, plain(unknown.text)]).toEqual([wrong.status, plain(wrong.text)])
    expect(wrong.text).not.toContain('wrong password')
  })

  it('limits wrong passwords by address and name', async () => {
    const { time, clock } = movableClock()
    const portal = await startPortal({ clock, trustProxy: true })
    await portal.developer('grace')
    const browser = portal.newBrowser()
    await browser.get('/portal/log-in')
    const attempt = async (name: string, typed: string, address = '192.0.2.1') => {
      const body = new URLSearchParams({ csrf_token: browser.csrfToken, name, password: typed })
      const headers = { 'x-forwarded-for': address }
      return (await browser.send('/portal/log-in', { method: 'POST', body, headers })).status
    }
    for (let guess = 0; guess < 10; guess += 1) expect(await attempt('ada', `guess ${guess}`)).toBe(422)
    expect(await attempt('ada', 'guess 10')).toBe(429)
    expect(await attempt(' ADA', password)).toBe(429)
    expect(await attempt('ada', password, '198.51.100.7')).toBe(303)
    await browser.get('/portal/projects')
    expect(await attempt('grace', password)).toBe(303)
    time.now += 5 * minute
    await browser.get('/portal/projects')
    expect(await attempt('ada', password)).toBe(303)
  })

  it('limits concurrent guesses too', async () => {
    const portal = await startPortal()
    const browser = portal.newBrowser()
    await browser.get('/portal/log-in')
    const guess = async (typed: string) =>
      (await browser.post('/portal/log-in', { name: 'ada', password: typed })).status
    const statuses: number[] = []
    while (!statuses.includes(429)) {
      statuses.push(...(await Promise.all(Array.from({ length: 5 }, (_, index) => guess(`guess ${index}`)))))
    }
    expect(statuses.filter((status) => status === 422).length).toBeLessThanOrEqual(10)
    expect(await guess(password)).toBe(429)
  })
})

describe('logging in, with passwords that take time to check,', () => {
  useCheapPasswords(isSoak ? 1 : 1 / 4)

  /** Log-ins from many addresses, as a trusted proxy reports them. */
  async function logInFrom(portal: PortalUnderTest, address: string, name: string, typed: string) {
    const browser = portal.newBrowser()
    await browser.get('/portal/log-in')
    return sendLogIn(browser, address, name, typed)
  }

  function sendLogIn(browser: PortalBrowser, address: string, name: string, typed: string) {
    const body = new URLSearchParams({ csrf_token: browser.csrfToken, name, password: typed })
    const headers = { 'x-forwarded-for': address }
    return browser.send('/portal/log-in', { method: 'POST', body, headers })
  }

  it('responds with 503 to more logins than it can check', async () => {
    const portal = await startPortal({ trustProxy: true })
    // Of one page, so that they arrive together, however slow the machine is.
    const browser = portal.newBrowser()
    await browser.get('/portal/log-in')
    const responses = await Promise.all(
      Array.from({ length: 130 }, (_, index) =>
        sendLogIn(browser, `192.0.2.${index}`, `somebody ${index}`, 'a wrong password'),
      ),
    )
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([422, 503]))
    const busy = responses.find(({ status }) => status === 503)!
    expect(busy.headers.get('retry-after')).toBe('5')
    expect(busy.text).toContain('The service is busy')
  })

  it('lets no log-in wait until the server closes its connection', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const checks = Promise.allSettled(
      Array.from({ length: 6 }, () => isPassword('a wrong password', undefined, 0)),
    )
    vi.advanceTimersByTime(20_000)
    const waited = { status: 'rejected', reason: expect.objectContaining({ reason: 'busy' }) }
    const checked = { status: 'fulfilled', value: false }
    expect(await checks).toEqual([checked, checked, waited, waited, waited, waited])
  })

  it('accepts right passwords from 60 addresses at once', async () => {
    const portal = await startPortal({ trustProxy: true })
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, index) => logInFrom(portal, `192.0.2.${index}`, 'ada', password)),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 303))
  })

  it('checks known devices before a flood from many addresses', async () => {
    const portal = await startPortal({ trustProxy: true })
    const flood = Array.from({ length: 90 }, (_, index) =>
      logInFrom(portal, `192.0.2.${index}`, 'ada', 'a wrong password'),
    )
    let finished = 0
    for (const each of flood) void each.then(() => (finished += 1))
    await Promise.all(flood.slice(0, 2))
    // Its cookie lasts longer than its session.
    expect((await portal.admin.post('/portal/log-in', { name: 'ada', password })).status).toBe(303)
    expect(finished).toBeLessThan(flood.length)
    await Promise.all(flood)
  })

  it('checks those of the networks with the fewest wrong passwords first', async () => {
    const order: number[] = []
    const check = async (rank: number) => {
      await isPassword('a wrong password', undefined, rank)
      order.push(rank)
    }
    const many = Array.from({ length: 16 }, () => 5)
    await Promise.all([...many, 0, 2, knownDevice].map(check))
    // Some are checked at the same time, and may end in another order.
    expect(order.slice(-6)).toEqual([5, 5, 5, 5, 5, 5])
  })

  it('limits wrong passwords for a name from one IPv6 /48', async () => {
    const portal = await startPortal({ trustProxy: true })
    const statuses: number[] = []
    for (let guess = 0; guess < 21; guess += 1)
      statuses.push((await logInFrom(portal, `2001:db8:2:${guess}::1`, 'ada', 'a wrong password')).status)
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 422), 429])
  })

  it('counts the failures of larger IPv6 networks too', async () => {
    const portal = await startPortal({ trustProxy: true })
    const statuses = new Set<number>()
    for (let guess = 0; guess < 101; guess += 1) {
      const address = `2001:db8:0:${(guess % 256).toString(16)}::1`
      statuses.add((await logInFrom(portal, address, `name ${guess}`, 'a wrong password')).status)
    }
    expect([...statuses]).toEqual([422, 429])
    expect((await logInFrom(portal, '2001:db8:0:f0::1', 'ada', password)).status).toBe(429)
    expect((await logInFrom(portal, '2001:db8:1::1', 'ada', password)).status).toBe(303)
  })

  it('is not blocked by an address that guesses random names', async () => {
    const portal = await startPortal({ trustProxy: true })
    const ending = new AbortController()
    const attacker = async (loop: number) => {
      for (let round = 0; !ending.signal.aborted; round += 1)
        await logInFrom(portal, '192.0.2.1', `name ${loop} ${round}`, 'a wrong password')
    }
    const attackers = Array.from({ length: 15 }, (_, loop) => attacker(loop))
    const rounds = isSoak ? 10 : 1
    for (let round = 0; round < rounds; round += 1) {
      expect((await logInFrom(portal, '198.51.100.7', 'ada', password)).status).toBe(303)
    }
    ending.abort()
    await Promise.all(attackers)
  })
})

describe('a session', () => {
  useCheapPasswords()

  it('is in a cookie for this site only, without access from scripts', async () => {
    const portal = await startPortal()
    const { response } = await logIn(portal, 'ada', password)
    const [cookie] = response.headers.getSetCookie()
    expect(cookie).toMatch(
      /^tokenwell_portal=[\w-]{43}; Max-Age=43200; Path=\/portal; HttpOnly; SameSite=Lax$/,
    )
  })

  it('has a Secure cookie under the path of an https public URL', async () => {
    const service = await startTokenService({
      publicUrl: 'https://auth.example.com/tokens',
      portal: true,
    })
    onTestFinished(() => service.close())
    expect(await service.createSetupLink()).toMatch(
      /^https:\/\/auth\.example\.com\/tokens\/portal\/join\/[\w-]{43}$/,
    )
    const { headers, text } = await createPortalBrowser(service.authUrl).get('/portal/log-in')
    expect(headers.get('set-cookie')).toMatch(/; Path=\/tokens\/portal; HttpOnly; Secure; SameSite=Lax$/)
    expect(text).toContain('action="/tokens/portal/log-in"')
    expect(text).not.toMatch(/(?:href|src|action)="\/(?!tokens\/)/)
  })

  it('has a new ID after each login', async () => {
    const portal = await startPortal()
    const browser = portal.newBrowser()
    await browser.get('/portal/log-in')
    const before = new Map(browser.cookies)
    await browser.post('/portal/log-in', { name: 'ada', password })
    expect(browser.cookies.get(cookieName)).not.toBe(before.get(cookieName))
    const other = portal.newBrowser()
    for (const [name, value] of before) other.cookies.set(name, value)
    expect((await other.get('/portal/projects')).location).toBe(logInPath)
  })

  it('ends when its browser logs in again', async () => {
    const { admin, newBrowser } = await startPortal()
    const copy = newBrowser()
    for (const [name, value] of admin.cookies) copy.cookies.set(name, value)
    expect((await admin.post('/portal/log-in', { name: 'ada', password })).location).toBe('/portal')
    expect((await admin.get('/portal/projects')).status).toBe(200)
    expect((await copy.get('/portal/projects')).location).toBe(logInPath)
  })

  it('is not found by a changed cookie', async () => {
    const { admin, newBrowser } = await startPortal()
    const id = admin.cookies.get(cookieName) ?? ''
    const changed = [
      `${id}=`,
      id.slice(0, -1),
      id.toLowerCase(),
      '',
      'x'.repeat(5000),
      '%00.%ff',
      '__proto__',
    ]
    for (const value of changed) {
      const browser = newBrowser()
      browser.cookies.set(cookieName, value)
      expect([value, (await browser.get('/portal/projects')).location]).toEqual([value, logInPath])
    }
    expect((await admin.get('/portal/projects')).status).toBe(200)
  })

  it('ends when the developer logs out, in every window', async () => {
    const { admin, newBrowser } = await startPortal()
    const copy = newBrowser()
    for (const [name, value] of admin.cookies) copy.cookies.set(name, value)
    const { headers } = await admin.post('/portal/log-out')
    expect(headers.getSetCookie()).toContainEqual(
      expect.stringMatching(/^tokenwell_portal=; (?:Max-Age=0; )?Path=\/portal/),
    )
    expect((await copy.get('/portal/projects')).location).toBe(logInPath)
  })

  it('ends after twelve hours', async () => {
    const { time, clock } = movableClock()
    const { admin } = await startPortal({ clock })
    time.now += 12 * 60 * minute - 1
    expect((await admin.get('/portal/projects')).status).toBe(200)
    time.now += 1
    expect((await admin.get('/portal/projects')).location).toBe(logInPath)
  })

  it('ends on other devices when the password is changed', async () => {
    const portal = await startPortal()
    const { browser: elsewhere } = await logIn(portal, 'ada', password)
    await portal.admin.get('/portal/account')
    const rejected = await portal.admin.post('/portal/account', {
      password: 'not it',
      new_password: 'a new password',
    })
    expect([rejected.status, (await elsewhere.get('/portal/projects')).status]).toEqual([422, 200])
    const form = { password, new_password: 'another long password' }
    expect((await portal.admin.post('/portal/account', form)).status).toBe(303)
    expect((await elsewhere.get('/portal/projects')).location).toBe(logInPath)
    expect((await portal.admin.get('/portal/projects')).status).toBe(200)
    expect((await logIn(portal, 'ada', password)).response.status).toBe(422)
    expect((await logIn(portal, 'ada', 'another long password')).response.status).toBe(303)
  })
})

describe('the name of a developer', () => {
  const check = (name: string) => developerName.safeParse(name, { error: describeIssue })

  it.each([
    ['Ada', 'ada'],
    ['ada.lovelace@example.com', 'ada.lovelace@example.com'],
    ['ＡＤＡ', 'ada'],
    ['José García', 'josé garcía'],
    ['Дмитрий', 'дмитрий'],
    ['山田 taro', '山田 taro'],
    ['सीता', 'सीता'],
    ['김철수', '김철수'],
  ])('can be %s', (name, stored) => {
    expect(check(name).data).toBe(stored)
  })

  it.each([
    ['аdmin', 'must use the letters of one script'],
    ['раура', 'must use Latin letters'],
    ['αρτυχ', 'must use Latin letters'],
    ['ada\u200b', 'must not contain line breaks or other control or invisible characters'],
    ['ada\u3164', 'must not contain invisible characters'],
    ['Administration', 'This name is reserved.'],
    ['The Service', 'This name is reserved.'],
    ['C0mmand', 'This name is reserved.'],
    ['ada٣', 'must use the digits 0 to 9'],
    ['-ada', 'Start with a letter or digit, and use only letters, digits, spaces and . _ @ + -'],
    ['  ', 'must not be empty'],
  ])('cannot be %j', (name, message) => {
    expect(check(name).error?.issues[0]?.message).toBe(message)
  })
})

it.each([
  ['correct horse battery staple', undefined],
  ['aaaaaaaaaaaaaaaa', 'Use at least 5 different characters.'],
  [' '.repeat(12), 'Use at least 5 different characters.'],
  ['lovelacelovelace', 'Do not use your name or the name of the service.'],
  ['Tokenwell-Lovelace', 'Do not use your name or the name of the service.'],
  ['short', 'Use at least 12 characters.'],
])('the password %j of "lovelace" is rejected because: %s', (typed, message) => {
  expect(newPassword('lovelace').safeParse(typed).error?.issues[0]?.message).toBe(message)
})
