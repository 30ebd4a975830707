import { describe, expect, it } from 'vitest'
import { layoutShift, pageBudget } from '@tokenwell/internal-testing/page-load'
import { hasChromium, inChromium, timeout, usePages } from './chromium.ts'
import {
  createApplication,
  createProject,
  startPortal,
  tokenFor,
  useCheapPasswords,
} from '../portal-browser.ts'

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it.each([1280, 390])('no page moves what it has shown, %i px wide', { timeout: 120_000 }, async (width) => {
    const { admin, service } = await startPortal()
    const application = await createApplication(admin, await createProject(admin))
    await tokenFor(service.authUrl, application)
    const page = await openPage({ viewport: { width, height: 844 } })
    const cookies = Array.from(admin.cookies, ([name, value]) => ({ name, value, url: service.authUrl }))
    await page.context().addCookies(cookies)
    const sections = ['get-started', 'projects', 'approvals', 'developers', 'products', 'resource-servers']
    const paths = [...sections, 'audit', 'account'].map((name) => `/portal/${name}`)
    for (const path of [...paths, application.path]) {
      await page.goto(`${service.authUrl}${path}`)
      expect(await layoutShift(page), path).toBeLessThan(0.01)
    }
  })

  it.each([1280, 390])(
    'the reference moves nothing, even when Scalar takes over, %i px wide',
    { timeout: 120_000 },
    async (width) => {
      const { service } = await startPortal()
      const page = await openPage({ viewport: { width, height: 844 } })
      await page.goto(`${service.authUrl}/portal/reference`)
      const positions = () =>
        page.evaluate<number[]>(
          "[...document.querySelectorAll('h1, h2, h3, .show-api-client-button')].map((each) => Math.round(each.getBoundingClientRect().y + scrollY))",
        )
      await page.locator('#reference.shown').waitFor()
      // Chromium may apply some of the styles in a later frame: what that moves counts as well.
      expect(await layoutShift(page)).toBeLessThan(pageBudget.shift)
      const before = await positions()
      const button = page.locator('.show-api-client-button').first()
      await button.waitFor()
      await button.press('Shift')
      await page.locator('#reference').waitFor({ state: 'detached', ...timeout })
      expect(await positions()).toEqual(before)
      await page.locator('.show-api-client-button:focus').waitFor()
      expect(await layoutShift(page)).toBeLessThan(pageBudget.shift)
    },
  )

  it(
    'the reference opens at the place that its address names, and links to others without Scalar',
    {
      timeout: 60_000,
    },
    async () => {
      const { service } = await startPortal()
      const page = await openPage({ viewport: { width: 1280, height: 844 } })
      const urls: string[] = []
      page.on('request', (request) => urls.push(request.url()))
      const titleAtTop = () =>
        page.evaluate<string>(`(() => {
        const isAtTop = (each) => each.getBoundingClientRect().y > 60 && each.getBoundingClientRect().y < 300
        return [...document.querySelectorAll('h3')].find(isAtTop)?.innerText ?? ''
      })()`)
      await page.goto(`${service.authUrl}/portal/reference#tag/tokens/POST/oauth/introspect`)
      await expect.poll(titleAtTop, timeout).toContain('Introspect Token')
      await page.locator('a[href="#tag/tokens/POST/oauth/revoke"]').first().press('Enter')
      await expect.poll(titleAtTop, timeout).toContain('Revoke Token')
      expect(urls.filter((url) => url.includes('scalar.js'))).toEqual([])
    },
  )

  it('the reference follows the colour scheme', { timeout: 120_000 }, async () => {
    const { service } = await startPortal()
    const page = await openPage({ colorScheme: 'light' })
    await page.goto(`${service.authUrl}/portal/reference`)
    for (const colorScheme of ['light', 'dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator(`body.${colorScheme}-mode`).waitFor(timeout)
    }
  })
})
