import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { layoutShift, pageBudget } from '@tokenwell/internal-testing/page-load'
import { samples, samplesFolder } from '../run-command.ts'
import { drop, hasChromium, useApplication } from './web-page.ts'

const [file] = Object.keys(samples) as [string]

describe.skipIf(!hasChromium)('the layout of the page', () => {
  const started = useApplication()

  test.each([1280, 390])('does not move when a transcript arrives, %i pixels wide', async (width) => {
    const context = await started.browser.newContext({ viewport: { width, height: 844 } })
    const page = await context.newPage()
    await page.goto(started.running.url)
    await page.getByRole('button', { name: 'Choose files' }).waitFor()
    await page.getByLabel('Through the server').check()
    const sent = Promise.withResolvers<void>()
    const arrival = Promise.withResolvers<void>()
    await page.route('**', async (route) => {
      if (route.request().method() === 'POST') {
        sent.resolve()
        await arrival.promise
      }
      await route.continue()
    })
    await drop(page, [{ name: file, content: await readFile(join(samplesFolder, file)) }])
    await sent.promise
    // The recording was added by the user, and may move what is below it.
    const before = await layoutShift(page)
    arrival.resolve()
    await page.locator('.words').waitFor()
    expect((await layoutShift(page)) - before).toBeLessThan(pageBudget.shift)
    await context.close()
  })
})
