import { describe, expect, it } from 'vitest'
import { describeBrowser } from '../../src/features/sessions/session.ts'
import { cells, createPortalBrowser, password, startPortal, useCheapPasswords } from './portal-browser.ts'

useCheapPasswords()

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

describe('the sessions of an account', () => {
  async function withSessions() {
    const { admin, developer, service } = await startPortal()
    const grace = await developer('grace')
    const others = [createPortalBrowser(service.authUrl), createPortalBrowser(service.authUrl)] as const
    for (const other of others) {
      await other.get('/portal/log-in')
      const body = new URLSearchParams({ csrf_token: other.csrfToken, name: 'grace', password })
      await other.send('/portal/log-in', { method: 'POST', body, headers: { 'user-agent': firefox } })
    }
    const account = async () => (await grace.get('/portal/account')).text
    const isOpen = async (browser: typeof grace) => (await browser.get('/portal/account')).status === 200
    return { admin, grace, others, account, isOpen }
  }

  it('are listed with their browser and address, and ended one by one or all at once', async () => {
    const { grace, others, account, isOpen } = await withSessions()
    const text = await account()
    expect(cells(text, 'name').sort()).toEqual([
      'Another browser127.0.0.1 · this one',
      'Firefox on Linux127.0.0.1',
      'Firefox on Linux127.0.0.1',
    ])
    const hashes = [...text.matchAll(/name="session"\s+value="([^"]+)"/g)].map(([, value]) => value ?? '')
    const one = hashes.find((hash) => hash !== 'others') ?? ''
    expect((await grace.post('/portal/account/sessions', { session: one })).location).toBe('/portal/account')
    expect(await account()).toContain('The session was ended.')
    expect((await Promise.all(others.map(isOpen))).filter(Boolean)).toHaveLength(1)
    await grace.post('/portal/account/sessions', { session: 'others' })
    expect(await Promise.all(others.map(isOpen))).toEqual([false, false])
    expect(await isOpen(grace)).toBe(true)
  })

  it('are not ended by others', async () => {
    const { admin, account, isOpen, others } = await withSessions()
    const [, hash = ''] = /name="session"\s+value="(?!others)([^"]+)"/.exec(await account()) ?? []
    await admin.get('/portal/account')
    expect((await admin.post('/portal/account/sessions', { session: hash })).status).toBe(404)
    expect(await Promise.all(others.map(isOpen))).toEqual([true, true])
  })
})

describe('describeBrowser', () => {
  it.each([
    [firefox, 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari on iOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['curl/8.5.0', 'Another browser'],
  ])('recognises %s', (userAgent, name) => {
    expect(describeBrowser(userAgent)).toBe(name)
  })
})
