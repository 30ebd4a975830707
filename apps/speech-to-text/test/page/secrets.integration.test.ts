import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { application, pageApplication } from '../platform.ts'
import { samples, samplesFolder } from '../run-command.ts'
import { startRecordingProxy } from './recording-proxy.ts'
import { drop, hasChromium, openBrowser, shownText, startApplication } from './web-page.ts'

const [[file, text], [otherFile, otherText]] = Object.entries(samples) as [[string, string], [string, string]]
const longTimeout = { timeout: 20_000 }

describe.skipIf(!hasChromium)('the responses to the browser', { timeout: 120_000 }, () => {
  test('contain no client secret and, through the server, no token', async () => {
    const running = await startApplication()
    const proxy = await startRecordingProxy()
    const browser = await openBrowser()
    const context = await browser.newContext({ proxy: { server: proxy.server } })
    const page = await context.newPage()
    const holding = (part: string) => proxy.responses.filter((response) => response.includes(part))
    const transcribe = async (name: string, spoken: string) => {
      await drop(page, [{ name, content: await readFile(join(samplesFolder, name)) }])
      await expect.poll(() => shownText(page), longTimeout).toBe(spoken)
    }
    try {
      await page.goto(running.url)
      await page.getByLabel('Through the server').check()
      await transcribe(file, text)
      // The status of the token is sent, but not the token.
      await expect.poll(() => holding('"tokenRequests":1'), longTimeout).not.toEqual([])
      expect(holding('access_token":')).toEqual([])
      expect(holding('Bearer"')).toEqual([])

      await page.getByLabel('Directly').check()
      await transcribe(otherFile, otherText)
      const [response, ...others] = holding('"access_token":')
      expect(others).toEqual([])
      expect(response).toContain('no-store')
      const [, token] = /"access_token":"([^"]+)"/.exec(response!)!
      expect(await page.content()).not.toContain(token)
      for (const { clientSecret } of [application, pageApplication]) expect(holding(clientSecret)).toEqual([])
    } finally {
      await browser.close()
      proxy.close()
      await running.close()
    }
  })
})
