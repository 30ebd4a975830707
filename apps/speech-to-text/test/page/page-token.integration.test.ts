import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageApplication } from '../platform.ts'
import { samples, samplesFolder } from '../samples.ts'
import { drop, hasChromium, openBrowser, startApplication, type RunningApplication } from './web-page.ts'

const [file] = Object.entries(samples)[0]!
const longTimeout = { timeout: 30_000 }

describe.skipIf(!hasChromium)("the page's token", { timeout: 120_000 }, () => {
  let browser: Browser
  beforeAll(async () => void (browser = await openBrowser()))
  afterAll(() => browser?.close())

  async function transcribe(page: Page, times: number): Promise<void> {
    await drop(page, [{ name: file, content: await readFile(join(samplesFolder, file)) }])
    await expect.poll(() => figure(page, 'api-calls').then(Number), longTimeout).toBeGreaterThanOrEqual(times)
    await page.locator('.words').waitFor()
  }

  const figure = (page: Page, name: string) => page.getByTestId(name).textContent()

  async function withPage(running: RunningApplication, use: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext()
    const page = await context.newPage()
    try {
      await page.goto(running.url)
      await page.getByLabel('Directly').check()
      await use(page)
    } finally {
      await context.close()
      await running.close()
    }
  }

  test('is replaced after it has expired', async () => {
    await withPage(await startApplication({ pageLifetime: 8 }), async (page) => {
      await transcribe(page, 1)
      expect(await figure(page, 'token-requests')).toBe('1')
      await expect.poll(() => figure(page, 'expires-in'), longTimeout).toBe('–')
      await transcribe(page, 2)
      expect(await figure(page, 'token-requests')).toBe('2')
      expect(await figure(page, 'refreshes')).toBe('1')
    })
  })

  test('is replaced without an error when the speech API rejects it', async () => {
    const running = await startApplication()
    await withPage(running, async (page) => {
      await transcribe(page, 1)
      const token = await page.evaluate(async () => {
        const response = await fetch('/api/token', { method: 'POST' })
        return ((await response.json()) as { access_token: string }).access_token
      })
      await running.revoke(token, pageApplication)
      // The speech API caches the introspection response for a few seconds.
      await expect
        .poll(
          async () => {
            await transcribe(page, Number(await figure(page, 'api-calls')) + 1)
            return figure(page, 'refreshes')
          },
          { timeout: 40_000, interval: 2_000 },
        )
        .toBe('1')
      expect(await page.locator('.error').count()).toBe(0)
    })
  })
})
