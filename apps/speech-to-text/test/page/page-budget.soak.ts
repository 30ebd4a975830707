import { describe, expect, onTestFinished, test } from 'vitest'
import { describePageLoad, measurePageLoad, pageBudget } from '@tokenwell/internal-testing/page-load'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { hasChromium, openBrowser, startApplication } from './web-page.ts'

const table = createSoakTable()

describe.skipIf(!hasChromium)('the page in Chromium', () => {
  test('is small, and soon interactive on a slow processor', async () => {
    const [running, browser] = await Promise.all([startApplication(), openBrowser()])
    onTestFinished(async () => {
      await browser.close()
      await running.close()
    })
    const page = await browser.newPage()
    const { bytes, interactiveMs, shift } = await table.measure('the page of the example', async () => {
      const load = await measurePageLoad(page, running.url)
      return { ...load, figures: describePageLoad(load) }
    })
    expect(bytes).toBeLessThan(pageBudget.bytes)
    expect(interactiveMs).toBeLessThan(pageBudget.interactiveMs)
    expect(shift).toBeLessThan(pageBudget.shift)
  })
})
