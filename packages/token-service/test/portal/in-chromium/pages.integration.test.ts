import { describe, expect, it } from 'vitest'
import { layoutShift } from '@tokenwell/internal-testing/page-load'
import { patterns } from '../../../src/portal/paths.ts'
import { routes } from '../../../src/portal/routes.ts'
import { resourceServer } from '../../test-service.ts'
import {
  createApplication,
  createProject,
  startPortal,
  tokenFor,
  useCheapPasswords,
} from '../portal-browser.ts'
import { hasChromium, inChromium, inspectPage, usePages } from './chromium.ts'

useCheapPasswords()

/** Redirects, a download, and pages that belong to a link of their own. */
const notPages = new Set([
  'beginOpenidLogIn',
  'finishOpenidLogIn',
  'exportAudit',
  'showLogIn',
  'showJoin',
  'showNewPassword',
])

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it(
    'every page is accessible, fits, and moves nothing that it has shown',
    { timeout: 240_000 },
    async () => {
      const { admin, developer, service } = await startPortal({
        resourceServers: [resourceServer],
        applications: [
          {
            name: 'expiring',
            clientId: 'expiring',
            clientSecret: 'demo-secret-0123456789',
            clientSecretExpiresAt: new Date(Date.now() + 5 * 86_400_000).toISOString(),
          },
        ],
      })
      const project = await createProject(admin)
      const application = await createApplication(admin, project)
      await tokenFor(service.authUrl, application)
      await developer('grace')
      await admin.get('/portal/trusted-issuers')
      await admin.post('/portal/trusted-issuers', {
        issuer: 'https://token.actions.example.com',
        jwks_url: '',
        audiences: '',
        rules: JSON.stringify([{ clientId: application.clientId, claims: { sub: 'repo:example/orders:*' } }]),
        replay: 'once',
      })
      const { text: people } = await admin.get('/portal/developers')
      const { text: issuers } = await admin.get('/portal/trusted-issuers')
      await admin.get('/portal/webhook')
      await admin.post('/portal/webhook', { url: 'https://127.0.0.1:9/hook' })
      await admin.post('/portal/webhook/test')
      const [, projectId = ''] = /projects\/([^/]+)/.exec(project) ?? []
      const values: Readonly<Record<string, string>> = {
        projectId,
        applicationId: application.path.split('/').at(-1) ?? '',
        clientId: resourceServer.clientId,
        developerId: /developers\/([\w-]+)"/.exec(people)?.[1] ?? '',
        id: /trusted-issuers\/([\w-]+)"/.exec(issuers)?.[1] ?? '',
      }
      const urlOf = (path: keyof typeof patterns) =>
        `${service.authUrl}/portal${patterns[path].replaceAll(/:(\w+)/g, (_all, name: string) => values[name]!)}`
      const page = await openPage()
      const cookies = Array.from(admin.cookies, ([name, value]) => ({ name, value, url: service.authUrl }))
      await page.context().addCookies(cookies)
      const pages = Object.entries(routes).filter(
        ([name, [method]]) => method === 'GET' && !notPages.has(name),
      )
      expect(pages.length).toBeGreaterThan(20)
      for (const [index, [name, [, path]]] of pages.entries()) {
        await page.setViewportSize({ width: index % 2 === 0 ? 1280 : 390, height: 844 })
        const response = await page.goto(urlOf(path))
        expect([name, response?.status()]).toEqual([name, 200])
        expect(await layoutShift(page), name).toBeLessThan(0.01)
        await inspectPage(page, name)
      }
      await page.goto(`${service.authUrl}/portal/nowhere`)
      await inspectPage(page, 'not-found')
      await page.context().clearCookies()
      await page.goto(`${service.authUrl}/portal/new-project`)
      await page.getByLabel('Name').fill('ada')
      await page.getByLabel('Password').fill('not this one')
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByText('The name or password is incorrect').waitFor()
      await inspectPage(page, 'log-in-rejected')
    },
  )
})
