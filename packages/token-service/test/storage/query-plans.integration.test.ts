import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../service-process.ts'
import { createProject, createPortalBrowser, password, useCheapPasswords } from '../portal/portal-browser.ts'
import { administeredService, application, introspect, requestToken } from '../test-service.ts'

// Tables with a row for each application, token, request, secret or act; the others have few rows.
const large =
  'applications|projects|secrets|tokens|usage|token_requests|audit|last_uses|sessions|failures|memberships'
// Reads the whole table: the check of keys at the start, the totals of lists, a search within names, the newest entries.
const exempt =
  /^select distinct |^select count\(\*\)(?!.*('pending'|from "secrets"))| like |from "audit" where 1 = 1 order by "id" desc limit/

useCheapPasswords()

it('finds rows of large tables by an index in each query of the endpoints, the portal and the admin API', async () => {
  const texts = new Set<string>()
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
  const file = join(temporaryFolder(), 'data.db')
  const service = await administeredService({
    storage: `sqlite:${file}`,
  })
  const { authUrl, send, context } = service
  const { body } = await requestToken(authUrl)
  await introspect(authUrl, body.access_token)
  const browser = createPortalBrowser(authUrl)
  const { pathname } = new URL((await service.createSetupLink()) ?? '')
  await browser.get(pathname)
  await browser.post(pathname, { name: 'ada', password })
  await browser.get('/portal/projects')
  const project = await createProject(browser)
  const { project: configured, application: one } = (await context.storage.applications.findClient(
    application.clientId,
  ))!
  const path = `/portal/projects/${configured.id}/applications/${one.id}`
  const pages = [
    '',
    '/projects',
    '/applications',
    '/expiring-secrets',
    '/approvals',
    '/audit',
    '/reference',
    '/get-started',
    '/developers',
  ]
  const paths = [
    ...pages.map((page) => `/portal${page}`),
    project,
    path,
    `${path}/credentials`,
    `${path}/settings`,
  ]
  for (const page of paths) expect([page, (await browser.get(page)).status < 400]).toEqual([page, true])
  await browser.get('/portal/applications?q=demo')
  await browser.get('/portal/audit?actor=ada&group=people')
  for (const page of ['/applications', `/applications/${one.clientId}`, '/audit', '/audit?event=logged_in'])
    expect((await send('GET', page)).status).toBe(200)
  await context.storage.listings.expiringSecrets([1, 2], { usedSinceMs: 1, limit: 1, offset: 0 })
  await context.storage.projects.purge(0)
  await context.storage.audit.purge(1, () => expect.unreachable())
  await context.activity.flush()
  for (const [text] of prepare.mock.calls) if (/^(select|update|delete)/.test(text)) texts.add(text)
  prepare.mockRestore()
  await service.close()

  const sqlite = new DatabaseSync(file)
  const scan = new RegExp(`^SCAN (${large})(?!.* USING (COVERING )?INDEX)`)
  const scans = [...texts].filter((text) => {
    if (exempt.test(text)) return false
    const plan = sqlite.prepare(`explain query plan ${text}`).all()
    return plan.some(({ detail }) => scan.test(String(detail)))
  })
  sqlite.close()
  expect(texts.size).toBeGreaterThan(30)
  expect(scans).toEqual([])
})
