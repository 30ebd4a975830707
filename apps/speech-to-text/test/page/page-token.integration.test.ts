import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pageApplication, pageLifetimeSeconds } from '../platform.ts'
import { samples, samplesFolder } from '../run-command.ts'
import { drop, hasChromium, useApplication } from './web-page.ts'

const [file] = Object.entries(samples)[0]!
const longTimeout = { timeout: 30_000 }

describe.skipIf(!hasChromium)("the page's token", { timeout: 120_000 }, () => {
  const started = useApplication()
  let page: Page
  beforeEach(async () => {
    page = await started.browser.newPage()
    await page.clock.install()
    await page.goto(started.running.url)
    await page.getByLabel('Directly').check()
  })
  afterEach(() => page.close())

  const figure = (name: string) => page.getByTestId(name).textContent()

  async function transcribe(times: number): Promise<void> {
    await drop(page, [{ name: file, content: await readFile(join(samplesFolder, file)) }])
    await expect.poll(() => figure('api-calls').then(Number), longTimeout).toBeGreaterThanOrEqual(times)
    await page.locator('.words').waitFor()
  }

  test('is replaced after it has expired', async () => {
    await transcribe(1)
    expect(await figure('token-requests')).toBe('1')
    await page.clock.fastForward(pageLifetimeSeconds * 1000)
    await expect.poll(() => figure('expires-in'), longTimeout).toBe('–')
    await transcribe(2)
    expect(await figure('token-requests')).toBe('2')
    expect(await figure('refreshes')).toBe('1')
  })

  test('is replaced without an error when the speech API rejects it', async () => {
    await transcribe(1)
    const token = await page.evaluate(async () => {
      const response = await fetch('/api/token', { method: 'POST' })
      return ((await response.json()) as { access_token: string }).access_token
    })
    await started.running.revoke(token, pageApplication)
    // The speech API caches the introspection response for a few seconds.
    await expect
      .poll(
        async () => {
          await transcribe(Number(await figure('api-calls')) + 1)
          return figure('refreshes')
        },
        { timeout: 40_000, interval: 500 },
      )
      .toBe('1')
    expect(await page.locator('.error').count()).toBe(0)
  })
})
