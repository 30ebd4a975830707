import { describe, expect, it, onTestFinished } from 'vitest'
import { describePageLoad, measurePageLoad, pageBudget } from '@tokenwell/internal-testing/page-load'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { startTokenService } from '@tokenwell/token-service'
import { password } from '../portal-browser.ts'
import { hasChromium, inChromium, usePages } from './chromium.ts'

const table = createSoakTable()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it(
    'every page is small, soon interactive on a slow processor, and does not shift',
    { timeout: 600_000 },
    async () => {
      const service = await startTokenService({ portal: true })
      onTestFinished(() => service.close())
      const page = await openPage()
      await page.goto((await service.createSetupLink()) ?? '')
      await page.getByLabel('Name').fill('Ada')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Join' }).click()
      await page.getByLabel('Project name').fill('Speech')
      await page.getByRole('button', { name: 'Create project' }).click()
      await page.getByLabel('Application name').fill('Transcriber')
      await page.getByRole('button', { name: 'Create application' }).click()
      await page.getByRole('link', { name: 'Continue to the application' }).click()
      await page.getByRole('heading', { name: 'Transcriber' }).waitFor()
      const sections = ['approvals', 'developers', 'products', 'resource-servers', 'audit']
      const paths = ['get-started', 'projects', ...sections, 'account', 'reference']
      const urls = [page.url(), ...paths.map((path) => `${service.authUrl}/portal/${path}`)]
      for (const url of urls) {
        const path = new URL(url).pathname.replaceAll(/[\da-f-]{36}/g, 'ID')
        const { bytes, interactiveMs, shift } = await table.measure(path, async () => {
          const load = await measurePageLoad(page, url)
          return { ...load, figures: describePageLoad(load) }
        })
        expect(bytes).toBeLessThan(pageBudget.bytes)
        expect(interactiveMs).toBeLessThan(pageBudget.interactiveMs)
        expect(shift).toBeLessThan(pageBudget.shift)
      }
    },
  )
})
