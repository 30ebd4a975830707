import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from 'playwright-core'
import { hasChromium, openBrowser, layoutShift, openPage, timeout, inChromium } from './chromium.ts'
import {
  createApplication,
  createProject,
  startPortal,
  tokenFor,
  useCheapPasswords,
} from './portal-browser.ts'

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it.each([1280, 390])('no page moves what it has shown, %i px wide', { timeout: 120_000 }, async (width) => {
    const { admin, service } = await startPortal()
    const application = await createApplication(admin, await createProject(admin))
    await tokenFor(service.authUrl, application)
    const page = await openPage(browser, { viewport: { width, height: 844 } })
    const cookies = Array.from(admin.cookies, ([name, value]) => ({ name, value, url: service.authUrl }))
    await page.context().addCookies(cookies)
    const sections = ['get-started', 'projects', 'approvals', 'developers', 'products', 'resource-servers']
    const paths = [...sections, 'audit', 'account', 'reference'].map((name) => `/portal/${name}`)
    for (const path of [...paths, application.path]) {
      await page.goto(`${service.authUrl}${path}`)
      if (path.endsWith('reference')) {
        // Scalar shows the last operation last.
        await page.getByRole('heading', { name: 'Revoke Token' }).waitFor(timeout)
      }
      const shift = await layoutShift(page, 200)
      expect(shift, path).toBeLessThan(0.01)
    }
  })

  it('the reference follows the colour scheme', { timeout: 60_000 }, async () => {
    const { service } = await startPortal()
    const page = await openPage(browser, { colorScheme: 'light' })
    await page.goto(`${service.authUrl}/portal/reference`)
    for (const colorScheme of ['light', 'dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator(`body.${colorScheme}-mode`).waitFor(timeout)
    }
  })
})
