import { describe, expect, it, onTestFinished } from 'vitest'
import { startTokenService } from '@tokenwell/token-service'
import { createVisitor, password, startPortal, type PortalUnderTest } from './portal-visitor.ts'

const minute = 60_000

function movableClock() {
  const time = { now: Date.UTC(2026, 0, 31, 12) }
  return { time, clock: { now: () => time.now } }
}

async function logIn({ stranger }: PortalUnderTest, name: string, typed: string) {
  const visitor = stranger()
  await visitor.get('/portal/log-in')
  return { visitor, answer: await visitor.post('/portal/log-in', { name, password: typed }) }
}

describe('the first developer', () => {
  async function started() {
    const { time, clock } = movableClock()
    const service = await startTokenService({ clock })
    onTestFinished(() => service.close())
    const visitor = createVisitor(service.authUrl)
    const link = async () => new URL((await service.createSetupLink()) ?? '').pathname
    return { time, service, visitor, link }
  }

  it('joins by a link that works once', async () => {
    const { service, visitor, link } = await started()
    const [path, other] = [await link(), await link()]
    expect((await visitor.get(path)).status).toBe(200)
    expect((await visitor.get(path)).status).toBe(200)
    const { status, location } = await visitor.post(path, { name: 'Ada', password })
    expect([status, location]).toEqual([303, '/portal/projects'])
    expect((await visitor.get(path)).status).toBe(410)
    expect((await visitor.post(path, { name: 'Eve', password })).status).toBe(410)
    // Nor does another link for a first developer make a second one.
    expect((await visitor.post(other, { name: 'Eve', password })).status).toBe(410)
    expect(await service.createSetupLink()).toBeUndefined()
  })

  it('is one, when two use two links at the same time', async () => {
    const { service, link } = await started()
    const paths = [await link(), await link()]
    const visitors = paths.map(() => createVisitor(service.authUrl))
    await Promise.all(visitors.map((visitor, index) => visitor.get(paths[index] ?? '')))
    const answers = await Promise.all(
      visitors.map((visitor, index) => visitor.post(paths[index] ?? '', { name: `dev${index}`, password })),
    )
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([303, 410])
  })

  it('has 15 minutes', async () => {
    const { time, visitor, link } = await started()
    const path = await link()
    time.now += 15 * minute - 1
    expect((await visitor.get(path)).status).toBe(200)
    time.now += 1
    expect((await visitor.get(path)).status).toBe(410)
    expect((await visitor.post(path, { name: 'Ada', password })).status).toBe(410)
  })

  it.each([
    ['a guessed link', '/portal/join/AAAA'],
    ['an empty link', '/portal/join/'],
    ['a digest', '/portal/join/%00'],
  ])('does not join by %s', async (_name, path) => {
    const { visitor, link } = await started()
    await link()
    expect((await visitor.get(path)).status).toBeGreaterThanOrEqual(404)
  })

  it.each([
    [{ name: 'Ada', password: 'short' }, 'At least 12 characters'],
    [{ name: 'Ada', password: 'x'.repeat(201) }, 'At most 200 characters'],
    [{ name: '', password }, 'Fill this in'],
    [{ name: '<script>', password }, 'Letters, digits'],
    [{ name: 'a\0b', password }, 'control characters'],
    [{ name: 'x'.repeat(61), password }, 'At most 60'],
  ])('is told what is wrong with %j, and keeps the link', async (form, message) => {
    const { visitor, link } = await started()
    const path = await link()
    await visitor.get(path)
    const { status, text } = await visitor.post(path, form)
    expect([status, text]).toEqual([422, expect.stringContaining(message)])
    expect(text).not.toContain(`value="${password}"`)
    expect((await visitor.post(path, { name: 'Ada', password })).status).toBe(303)
  })
})

describe('logging in', () => {
  it('takes the name in any case, and the password as it is', async () => {
    const portal = await startPortal()
    expect((await logIn(portal, ' ADA ', password)).answer.location).toBe('/portal/projects')
    expect((await logIn(portal, 'ada', password.toUpperCase())).answer.status).toBe(422)
    expect((await logIn(portal, 'ada', '')).answer.status).toBe(422)
    expect((await logIn(portal, 'a\0da', password)).answer.status).toBe(422)
  })

  it('says no more of an unknown name than of a wrong password', async () => {
    const portal = await startPortal()
    const plain = (text: string) => text.replaceAll(/value="[^"]*"/g, '')
    const wrong = (await logIn(portal, 'ada', 'wrong password')).answer
    const unknown = (await logIn(portal, 'eve', 'wrong password')).answer
    expect([unknown.status, plain(unknown.text)]).toEqual([wrong.status, plain(wrong.text)])
    expect(wrong.text).not.toContain('wrong password')
  })

  it('is slowed down for who guesses, and for nobody else', { timeout: 60_000 }, async () => {
    const { time, clock } = movableClock()
    const portal = await startPortal({ clock, trustProxy: true })
    await portal.developer('grace')
    const visitor = portal.stranger()
    await visitor.get('/portal/log-in')
    const attempt = async (name: string, typed: string, address = '192.0.2.1') => {
      const body = new URLSearchParams({ form_token: visitor.formToken, name, password: typed })
      const headers = { 'x-forwarded-for': address }
      return (await visitor.send('/portal/log-in', { method: 'POST', body, headers })).status
    }
    for (let guess = 0; guess < 10; guess += 1) expect(await attempt('ada', `guess ${guess}`)).toBe(422)
    expect(await attempt('ada', 'guess 10')).toBe(429)
    expect(await attempt(' ADA', password)).toBe(429)
    expect(await attempt('ada', password, '198.51.100.7')).toBe(303)
    await visitor.get('/portal/projects')
    expect(await attempt('grace', password)).toBe(303)
    time.now += 5 * minute
    await visitor.get('/portal/projects')
    expect(await attempt('ada', password)).toBe(303)
  })

  it('lets nobody guess more by guessing all at once', { timeout: 60_000 }, async () => {
    const portal = await startPortal()
    const visitor = portal.stranger()
    await visitor.get('/portal/log-in')
    const guess = (typed: string) => visitor.post('/portal/log-in', { name: 'ada', password: typed })
    const wrong = Array.from({ length: 11 }, (_, index) => guess(`guess ${index}`))
    // Those that came at once may have come in any order; what is sent after the first answer comes last.
    await Promise.race(wrong)
    expect((await guess(password)).status).toBe(429)
    await Promise.all(wrong)
  })

  it('takes a crowd in turn, and sends the rest away for a moment', { timeout: 60_000 }, async () => {
    const portal = await startPortal()
    const visitor = portal.stranger()
    await visitor.get('/portal/log-in')
    const names = Array.from({ length: 24 }, (_, index) => `somebody ${index}`)
    const answers = await Promise.all(
      names.map((name) => visitor.post('/portal/log-in', { name, password: 'whatever it is' })),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    expect(statuses).toEqual(new Set([422, 503]))
    expect(answers.find(({ status }) => status === 503)?.headers.get('retry-after')).toBe('5')
  })
})

describe('a session', () => {
  it('lives in a cookie that no script and no other site gets', async () => {
    const portal = await startPortal()
    const { answer } = await logIn(portal, 'ada', password)
    const cookie = answer.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(
      /^tokenwell_portal=[\w-]{43}\.[\w-]{43}; Max-Age=43200; Path=\/portal; HttpOnly; SameSite=Lax$/,
    )
  })

  it('has a Secure cookie under the path of the public address where that is https', async () => {
    const service = await startTokenService({ publicUrl: 'https://auth.example.com/tokens' })
    onTestFinished(() => service.close())
    expect(await service.createSetupLink()).toMatch(
      /^https:\/\/auth\.example\.com\/tokens\/portal\/join\/[\w-]{43}$/,
    )
    const { headers, text } = await createVisitor(service.authUrl).get('/portal/log-in')
    expect(headers.get('set-cookie')).toMatch(/; Path=\/tokens\/portal; HttpOnly; Secure; SameSite=Lax$/)
    expect(text).toContain('action="/tokens/portal/log-in"')
    expect(text).not.toMatch(/(?:href|src|action)="\/(?!tokens\/)/)
  })

  it('is another after each log-in, so that nobody can lay one under', async () => {
    const portal = await startPortal()
    const visitor = portal.stranger()
    await visitor.get('/portal/log-in')
    const before = visitor.cookie
    await visitor.post('/portal/log-in', { name: 'ada', password })
    expect(visitor.cookie).not.toBe(before)
    const other = portal.stranger()
    other.cookie = before
    expect((await other.get('/portal/projects')).location).toBe('/portal/log-in')
  })

  it('is not got by a cookie that was tampered with', async () => {
    const { admin, stranger } = await startPortal()
    const [name = '', value = ''] = admin.cookie.split('=')
    const [id = '', signature = ''] = value.split('.')
    const flipped = (text: string, at: number) =>
      text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
    const forged = [
      id,
      `${id}.`,
      `.${signature}`,
      `${flipped(id, 5)}.${signature}`,
      `${id}.${flipped(signature, 0)}`,
      `${id}.${flipped(signature, signature.length - 1)}`,
      `${id}.${signature}=`,
      `${id}.${signature.slice(0, -1)}`,
      `${id}.${admin.formToken}`,
      'x'.repeat(5000),
      '%00.%ff',
      '__proto__.constructor',
    ]
    for (const cookie of forged) {
      const visitor = stranger()
      visitor.cookie = `${name}=${cookie}`
      expect((await visitor.get('/portal/projects')).location).toBe('/portal/log-in')
    }
    expect((await admin.get('/portal/projects')).status).toBe(200)
  })

  it('ends when its developer logs out, in every window', async () => {
    const { admin, stranger } = await startPortal()
    const copy = stranger()
    copy.cookie = admin.cookie
    const { headers } = await admin.post('/portal/log-out')
    expect(headers.get('set-cookie')).toMatch(/^tokenwell_portal=; Max-Age=0; Path=\/portal/)
    expect((await copy.get('/portal/projects')).location).toBe('/portal/log-in')
  })

  it('ends after twelve hours', async () => {
    const { time, clock } = movableClock()
    const { admin } = await startPortal({ clock })
    time.now += 12 * 60 * minute - 1
    expect((await admin.get('/portal/projects')).status).toBe(200)
    time.now += 1
    expect((await admin.get('/portal/projects')).location).toBe('/portal/log-in')
  })

  it('ends elsewhere when the password is changed', { timeout: 60_000 }, async () => {
    const portal = await startPortal()
    const { visitor: elsewhere } = await logIn(portal, 'ada', password)
    await portal.admin.get('/portal/account')
    const refused = await portal.admin.post('/portal/account', {
      password: 'not it',
      new_password: 'a new password',
    })
    expect([refused.status, (await elsewhere.get('/portal/projects')).status]).toEqual([422, 200])
    const form = { password, new_password: 'another long password' }
    expect((await portal.admin.post('/portal/account', form)).status).toBe(303)
    expect((await elsewhere.get('/portal/projects')).location).toBe('/portal/log-in')
    expect((await portal.admin.get('/portal/projects')).status).toBe(200)
    expect((await logIn(portal, 'ada', password)).answer.status).toBe(422)
    expect((await logIn(portal, 'ada', 'another long password')).answer.status).toBe(303)
  })
})
