import { describe, expect, it } from 'vitest'
import { layoutShift } from '@tokenwell/internal-testing/page-load'
import { resourceServer } from '../../test-service.ts'
import {
  createApplication,
  createProject,
  idIn,
  startPortal,
  tokenFor,
  useCheapPasswords,
} from '../portal-browser.ts'
import { findRoutes } from '../portal-routes.ts'
import { hasChromium, inChromium, inspectPage, usePages } from './chromium.ts'

useCheapPasswords()

/** Redirects, a download, and pages that belong to a link of their own. */
const notPages = new Set([
  '/portal/choices/:kind',
  '/portal/log-in',
  '/portal/log-in/openid',
  '/portal/log-in/callback',
  '/portal/join/:token',
  '/portal/password/:token',
  '/portal/audit/export',
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
      await admin.get('/portal/new-trusted-issuer?preset=github')
      const trusted = await admin.post('/portal/new-trusted-issuer', {
        issuer: 'https://token.actions.githubusercontent.com',
        application: application.clientId,
        claim_1: 'repository',
        value_1: 'example/orders',
        jwks_url: '',
        audiences: '',
        replay: 'once',
      })
      const { text: people } = await admin.get('/portal/developers')
      const issuer = await admin.get(trusted.location ?? '')
      const [, projectId = ''] = /projects\/([^/]+)/.exec(project) ?? []
      const values: Readonly<Record<string, string>> = {
        projectId,
        applicationId: application.path.split('/').at(-1) ?? '',
        clientId: resourceServer.clientId,
        developerId: /developers\/([\w-]+)"/.exec(people)?.[1] ?? '',
        id: idIn(trusted.location ?? ''),
        rule: /\/rules\/([\w-]+)"/.exec(issuer.text)?.[1] ?? '',
      }
      const urlOf = (url: string) =>
        `${service.authUrl}${url.replaceAll(/:(\w+)/g, (_all, name: string) => values[name]!)}`
      const page = await openPage()
      const cookies = Array.from(admin.cookies, ([name, value]) => ({ name, value, url: service.authUrl }))
      await page.context().addCookies(cookies)
      const pages = (await findRoutes()).filter(({ method, url }) => method === 'GET' && !notPages.has(url))
      expect(pages.length).toBeGreaterThan(25)
      const forms = ['gitlab', 'kubernetes', 'entra'].map((name) => ({
        url: `/portal/new-trusted-issuer?preset=${name}`,
      }))
      for (const [index, { url }] of [...pages, ...forms].entries()) {
        await page.setViewportSize({ width: index % 2 === 0 ? 1280 : 390, height: 844 })
        const response = await page.goto(urlOf(url))
        expect([url, response?.status()]).toEqual([url, 200])
        expect(await layoutShift(page), url).toBeLessThan(0.01)
        await inspectPage(page, url.replace('/portal', 'portal').replaceAll(/\W+/g, '-'))
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
