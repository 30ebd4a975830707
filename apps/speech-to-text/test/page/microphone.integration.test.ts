import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { samples, samplesFolder, padWav } from '../run-command.ts'
import {
  hasChromium,
  launchBrowser,
  shownText,
  startApplication,
  type RunningApplication,
} from './web-page.ts'

const [file, text] = Object.entries(samples)[0]!

describe.skipIf(!hasChromium)('recording with the microphone', { timeout: 120_000 }, () => {
  let running: RunningApplication
  let browser: Browser
  let folder: string

  beforeAll(async () => {
    running = await startApplication()
    folder = await mkdtemp(join(tmpdir(), 'microphone-'))
    const spoken = join(folder, 'spoken.wav')
    await writeFile(spoken, padWav(await readFile(join(samplesFolder, file)), 1.5))
    browser = await launchBrowser(
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${spoken}%noloop`,
    )
  })
  afterAll(async () => {
    await browser?.close()
    await running?.close()
    await rm(folder, { recursive: true })
  })

  async function record(page: Page, seconds: number): Promise<void> {
    await page.getByRole('button', { name: 'Record' }).click()
    // The page may skip a second.
    const shown = () => page.getByRole('button', { name: 'Stop recording' }).textContent()
    const recorded = async () => Number(/(\d+) s/.exec((await shown()) ?? '')?.[1])
    await expect.poll(recorded, { timeout: 20_000 }).toBeGreaterThanOrEqual(seconds)
    const level = page.getByRole('meter', { name: 'Input level' })
    expect(await level.isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Stop recording' }).click()
  }

  test('transcribes the recording', async () => {
    const page = await browser.newPage()
    await page.goto(running.url)
    await record(page, 6)
    expect(await shownText(page)).toBe(text)
    await page.getByRole('button', { name: 'Record' }).waitFor()
    await page.context().close()
  })

  test('reports a blocked microphone', async () => {
    const page = await browser.newPage()
    await page.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))
    })
    await page.goto(running.url)
    await page.getByRole('button', { name: 'Record' }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toBe('The microphone is blocked. Allow it in the browser’s settings.')
    await page.context().close()
  })
})
