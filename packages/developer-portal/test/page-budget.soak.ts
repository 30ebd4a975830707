import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { developerPortal } from '@tokenwell/developer-portal'
import { startTokenService } from '@tokenwell/token-service'
import type { Browser, Page } from 'playwright-core'
import { hasChromium, openBrowser, layoutShift, openPage, inChromium } from './chromium.ts'
import { password } from './portal-browser.ts'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

const maxBytes = 100_000
const maxInteractiveMs = 1_000
const slowdown = 4

/** Loads the page without a cache on a slow processor. */
async function load(page: Page, url: string) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await page.goto(url)
  const interactiveMs = await page.evaluate<number>(
    "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd",
  )
  const shift = await layoutShift(page, 500)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await session.detach()
  return { bytes, interactiveMs, shift }
}

describe.skipIf(!hasChromium)(inChromium, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it(
    'every page is small, soon interactive on a slow processor, and does not shift',
    { timeout: 120_000 },
    async () => {
      const service = await startTokenService({ portal: developerPortal })
      onTestFinished(() => service.close())
      const page = await openPage(browser)
      await page.goto((await service.createSetupLink()) ?? '')
      await page.getByLabel('Name').fill('Ada')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Join' }).click()
      await page.getByLabel('Project name').fill('Speech')
      await page.getByRole('button', { name: 'Create project' }).click()
      await page.getByLabel('Application name').fill('Transcriber')
      await page.getByRole('button', { name: 'Create application' }).click()
      await page.getByRole('link', { name: 'Continue to the application' }).click()
      await page.getByRole('heading', { name: 'Credentials' }).waitFor()
      const sections = ['approvals', 'developers', 'products', 'resource-servers', 'audit']
      const paths = ['get-started', 'projects', ...sections, 'account']
      const urls = [page.url(), ...paths.map((path) => `${service.authUrl}/portal/${path}`)]
      await table.measure('pages of the portal', async () => {
        let [worstMs, largest] = [0, 0]
        for (const url of urls) {
          const { bytes, interactiveMs, shift } = await load(page, url)
          expect(bytes, url).toBeLessThan(maxBytes)
          expect(interactiveMs, url).toBeLessThan(maxInteractiveMs)
          expect(shift, url).toBeLessThan(0.01)
          worstMs = Math.max(worstMs, interactiveMs)
          largest = Math.max(largest, bytes)
        }
        return { calls: urls.length, failures: 0, worstMs, figures: `${largest} bytes at most` }
      })
      await table.measure('the API reference', async () => {
        // Readable before the component for API references has been loaded.
        const { bytes, interactiveMs } = await load(page, `${service.authUrl}/portal/reference`)
        expect(bytes).toBeLessThan(1_200_000)
        expect(interactiveMs).toBeLessThan(maxInteractiveMs)
        return { calls: 1, failures: 0, worstMs: interactiveMs, figures: `${bytes} bytes` }
      })
    },
  )
})
