import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { StorageFailure } from '../../src/storage/storage-failure.ts'
import { application, serviceWithContext } from '../test-service.ts'
import { plainText, startPortal, useCheapPasswords } from './portal-browser.ts'
import { findRoutes } from './portal-routes.ts'

useCheapPasswords()

const all = (await findRoutes()).map((route) => ({ ...route, url: route.url.replaceAll(/:\w+/g, 'x') }))
const closed = all.filter(({ access }) => access !== 'everybody')

describe('every route', () => {
  it('leads to the login page without a session, unless it is one of the open ones', async () => {
    const { newBrowser } = await startPortal()
    const browser = newBrowser()
    await browser.get('/portal/log-in')
    expect(closed.length).toBeGreaterThan(40)
    for (const { method, url } of closed) {
      const { status, location } = method === 'GET' ? await browser.get(url) : await browser.post(url)
      expect([url, status, location?.split('?')[0]]).toEqual([url, 303, '/portal/log-in'])
    }
  })

  it('that changes something rejects a form of another site, open or not', async () => {
    const { admin } = await startPortal()
    for (const { method, url } of all) {
      if (method === 'GET') continue
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const { status } = await admin.send(url, { method, headers, body: 'decision=delete' })
      expect([url, status]).toEqual([url, 403])
    }
  })

  it('for administrators rejects everybody else', async () => {
    const { developer } = await startPortal()
    const browser = await developer('grace')
    const administrative = all.filter(({ access }) => access === 'administrators')
    for (const { method, url } of administrative) {
      const { status } = method === 'GET' ? await browser.get(url) : await browser.post(url)
      expect([url, status]).toEqual([url, 403])
    }
  })

  it('of a page responds to HEAD as to GET, without a body', async () => {
    const { admin } = await startPortal()
    for (const path of ['/portal/projects', '/portal/account', '/portal/reference']) {
      const { status, headers, text } = await admin.send(path, { method: 'HEAD' })
      expect([path, status, text]).toEqual([path, 200, ''])
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    }
  })
})

it('shows why an act was rejected', async () => {
  const errors: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void errors.push(line) })
  const trusted = {
    issuer: 'https://ci.example.com',
    rules: [{ clientId: 'demo-client', claims: { sub: 'a' } }],
  }
  const { admin, service } = await startPortal({
    applications: [application],
    trustedIssuers: [trusted],
    logger,
  })
  const [issuer] = await service.context.storage.trustedIssuers.list()
  const removal = await admin.post(`/portal/trusted-issuers/${issuer?.id}/removal`)
  expect([removal.status, plainText(removal.text)]).toEqual([
    409,
    expect.stringContaining(
      '"https://ci.example.com" is in the configuration of the service. Change it there.',
    ),
  ])
  const own = (await service.context.storage.applications.findClient(application.clientId))!
  const path = `/portal/projects/${own.project.id}/applications/${own.application.id}`
  const revision = String(own.application.revision)
  const declined = await admin.post(`${path}/approval`, { decision: 'decline', revision, reason: '' })
  expect([declined.status, plainText(declined.text)]).toEqual([
    409,
    expect.stringContaining('The application requests nothing, so there is nothing to decline.'),
  ])
  expect(errors).toEqual([])
})

it('logs one line for many requests that fail with the storage', async () => {
  const errors: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void errors.push(line) })
  const service = await serviceWithContext({ portal: true, logger })
  const diskFull = new StorageFailure(new Error('disk full'))
  vi.spyOn(service.context.storage.sessions, 'find').mockRejectedValue(diskFull)
  for (let request = 0; request < 5; request += 1) {
    const headers = { cookie: 'tokenwell_portal=any' }
    expect((await fetch(`${service.authUrl}/portal`, { headers, redirect: 'manual' })).status).toBe(503)
  }
  expect(errors).toEqual([expect.stringContaining('disk full')])
  expect(errors[0]).not.toContain('    at ')
})
