import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageApplication } from '../platform.ts'
import { samples, samplesFolder } from '../samples.ts'
import { drop, hasChromium, openBrowser, startApplication, type RunningApplication } from './web-page.ts'

const [file] = Object.entries(samples)[0]!
const patience = { timeout: 30_000 }

describe.skipIf(!hasChromium)("the page's token", { timeout: 120_000 }, () => {
  let browser: Browser
  beforeAll(async () => void (browser = await openBrowser()))
  afterAll(() => browser?.close())

  async function hear(page: Page, times: number): Promise<void> {
    await drop(page, [{ name: file, content: await readFile(join(samplesFolder, file)) }])
    await expect.poll(() => figure(page, 'api-calls').then(Number), patience).toBeGreaterThanOrEqual(times)
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

  test('ends, and the next call has another', async () => {
    await withPage(await startApplication({ pageLifetime: 8 }), async (page) => {
      await hear(page, 1)
      expect(await figure(page, 'token-requests')).toBe('1')
      await expect.poll(() => figure(page, 'time-left'), patience).toBe('–')
      await hear(page, 2)
      expect(await figure(page, 'token-requests')).toBe('2')
      expect(await figure(page, 'renewals')).toBe('1')
    })
  })

  test('is replaced when the speech API refuses it, unnoticed by the user', async () => {
    const running = await startApplication()
    await withPage(running, async (page) => {
      await hear(page, 1)
      const token = await page.evaluate(async () => {
        const answer = await fetch('/api/token', { method: 'POST' })
        return ((await answer.json()) as { access_token: string }).access_token
      })
      await running.revoke(token, pageApplication)
      // The speech API may go by what it knew for a few seconds.
      await expect
        .poll(
          async () => {
            await hear(page, Number(await figure(page, 'api-calls')) + 1)
            return figure(page, 'renewals')
          },
          { timeout: 40_000, interval: 500 },
        )
        .toBe('1')
      expect(await page.locator('.problem').count()).toBe(0)
    })
  })
})
