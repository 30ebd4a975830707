import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type AxeCore from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasChromium, launchBrowser, openBrowser } from '@tokenwell/internal-testing/browser'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { layoutShift, pageBudget } from '@tokenwell/internal-testing/page-load'
import { type LocalPlatform, startLocalPlatform } from '../../src/platform/local-platform.ts'
import { digits, digitsWav, samplesFolder } from '../platform.ts'
import { spawnServer } from './spawn-server.ts'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const longTimeout = { timeout: 20_000 }
const sampleFile = join(samplesFolder, digits.file)

describe.skipIf(!hasChromium)('the page in Chromium', () => {
  let browser: Browser
  let platform: LocalPlatform
  let url: string
  let stopServer: () => Promise<void>
  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    platform = await startLocalPlatform([url])
    stopServer = await spawnServer({ ...platform.environment, PORT: String(port) })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await stopServer?.()
    await platform?.close()
  })

  /** Fails on any error in the page, such as a violated content security policy. */
  async function openPage(options?: BrowserContextOptions, from = browser) {
    const context = await from.newContext(options)
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    onTestFinished(async () => {
      await context.close()
      expect(errors).toEqual([])
    })
    await page.goto(url)
    await page.getByRole('button', { name: 'Record' }).waitFor()
    return page
  }

  async function shownText(page: Page): Promise<string> {
    await page.locator('.words').first().waitFor()
    return (await page.locator('.words').first().locator('button').allTextContents()).join(' ')
  }

  async function expectAccessible(page: Page): Promise<void> {
    // Evaluated through the debugger: the content security policy blocks other scripts.
    await page.evaluate(axe)
    const findings = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: typeof AxeCore }
      const { violations } = await axe.run({ resultTypes: ['violations'], selectors: false })
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
    })
    expect(findings).toEqual([])
    const { width } = page.viewportSize()!
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  }

  /** That of a recording. Part of its name is also in that of the field for files, which "this browser can play". */
  const playButton = (page: Page) => page.getByRole('button', { name: 'Play', exact: true })
  const figure = (page: Page, name: string) => page.getByTestId(name).textContent()

  test('transfers less than 100 kB at first, and what draws a recording with the first one', async () => {
    const page = await openPage()
    await page.evaluate(() => document.fonts.ready)
    const transferred = () =>
      page.evaluate(() => {
        const entries = ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type))
        return (entries as PerformanceResourceTiming[]).reduce(
          (sum, { transferSize }) => sum + transferSize,
          0,
        )
      })
    const first = await transferred()
    expect(first).toBeGreaterThan(20_000)
    expect(first).toBeLessThan(pageBudget.bytes)
    await page.setInputFiles('input[type=file]', sampleFile)
    await page.locator('.waveform canvas').first().waitFor()
    expect(await transferred()).toBeGreaterThan(first)
  })

  test('asks what is spoken, transcribes without a token in the page, and does not move when the words arrive', async () => {
    const page = await openPage({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
    const responses: string[] = []
    page.on('response', async (response) => {
      if (!response.url().includes('token-status')) responses.push(await response.text().catch(() => ''))
    })
    await page.setInputFiles('input[type=file]', sampleFile)
    await playButton(page).waitFor()
    expect(await page.locator('.words').count()).toBe(0)
    const before = await layoutShift(page)
    await page.getByLabel('What is spoken?').selectOption('digits')
    expect(await shownText(page)).toBe(digits.text)
    expect((await layoutShift(page)) - before).toBeLessThan(pageBudget.shift)
    await expectAccessible(page)
    await expect.poll(() => figure(page, 'expires-in'), longTimeout).toMatch(/^\d+:\d\d$/)
    const secrets = [
      'access_token',
      platform.environment['CLIENT_SECRET'],
      platform.environment['PAGE_CLIENT_SECRET'],
    ]
    for (const secret of secrets) expect(responses.join()).not.toContain(secret)
    // The next recording contains the same, unless the user says something else.
    await page.setInputFiles('input[type=file]', {
      name: 'next.wav',
      mimeType: 'audio/wav',
      buffer: digitsWav,
    })
    await expect.poll(() => page.locator('.words').count(), longTimeout).toBe(2)
  })

  test('calls the speech API directly with one token, which is replaced when it was revoked', async () => {
    const page = await openPage()
    await page.getByLabel('Directly').check()
    const token = page.waitForResponse((response) => response.url().endsWith('/api/token'))
    await page.getByRole('button', { name: 'order number' }).click()
    expect(await shownText(page)).toBe(digits.text)
    expect([await figure(page, 'token-requests'), await figure(page, 'api-calls')]).toEqual(['1', '1'])
    const { access_token: value } = (await (await token).json()) as { access_token: string }
    expect(await page.content()).not.toContain(value)
    const { AUTH_URL, PAGE_CLIENT_ID = '', PAGE_CLIENT_SECRET = '' } = platform.environment
    const body = new URLSearchParams({
      token: value,
      client_id: PAGE_CLIENT_ID,
      client_secret: PAGE_CLIENT_SECRET,
    })
    await fetch(`${AUTH_URL}/oauth/revoke`, { method: 'POST', body })
    // The speech API caches introspection responses for a second.
    await expect
      .poll(async () => {
        await page.getByRole('button', { name: 'order number' }).click()
        return page.getByLabel('What happened to the token').textContent()
      }, longTimeout)
      .toContain('replaced')
    expect(await page.locator('.error').count()).toBe(0)
  })

  test('says what is wrong, and offers to try again only if that can help', async () => {
    const page = await openPage()
    const file = { name: 'music.wav', mimeType: 'audio/wav', buffer: Buffer.from(digitsWav) }
    file.buffer.writeUInt16LE(85, 20)
    await page.setInputFiles('input[type=file]', file)
    await page.getByLabel('What is spoken?').selectOption('digits')
    await page.getByText('The WAV file is encoded as MP3.').waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await page.setInputFiles('input[type=file]', {
      name: 'note.ogg',
      mimeType: 'audio/ogg',
      buffer: Buffer.from('no sound'),
    })
    expect(await page.getByRole('alert').textContent()).toBe(
      'note.ogg is not a recording that this browser can read.',
    )
    await page.route('**/api/transcriptions', (route) => route.abort())
    await page.getByRole('button', { name: 'order number' }).click()
    await page.getByText('Network Error').waitFor()
    await page.unroute('**/api/transcriptions')
    await page.getByRole('button', { name: 'Try again' }).click()
    expect(await shownText(page)).toBe(digits.text)
    await page.getByLabel('What is spoken?').first().selectOption('speech')
    await page.getByText('For free speech, the operator of this server has to set SPEECH_ENGINE.').waitFor()
  })

  test('works with the keyboard alone', async () => {
    const page = await openPage()
    page.on('filechooser', (chooser) => void chooser.setFiles(sampleFile))
    /** The name of the focused element, and whether the focus is visible. */
    const focus = () =>
      page.evaluate(() => {
        const element = document.activeElement as HTMLInputElement
        const name = element.labels?.[0]?.textContent || element.textContent
        return getComputedStyle(element).outlineStyle === 'none' ? `${name} (not shown)` : name
      })
    const pressTab = async () => {
      await page.keyboard.press('Tab')
      return focus()
    }
    expect(await pressTab()).toBe('Record')
    expect(await pressTab()).toMatch('drop files here')
    await page.keyboard.press('Enter')
    await playButton(page).waitFor()
    const first = []
    for (let stop = 0; stop < 6; stop++) first.push(await pressTab())
    expect(first).toEqual([
      'order number',
      'meter reading',
      'parcel code',
      'command',
      'announcement',
      'What is spoken?',
    ])
    await page.keyboard.press('D')
    expect(await shownText(page)).toBe(digits.text)
    expect(await pressTab()).toBe('4')
    await page.keyboard.press('ArrowRight')
    expect(await focus()).toBe('2')
    await page.keyboard.press('Enter')
    await page.locator('.words [aria-current=true]', { hasText: '2' }).waitFor()
    const stops = []
    for (let stop = 0; stop < 4; stop++) stops.push(await pressTab())
    expect(stops).toEqual([
      expect.stringMatching(/^(Play|Pause)$/),
      'Copy text',
      'Remove',
      'Through the server',
    ])
    await page.keyboard.press('ArrowDown')
    await page.getByRole('heading', { name: 'This page’s token' }).waitFor()
  })

  test('draws the waveform in forced colours, and lights up the word that is played', async () => {
    const dark = async (forcedColors: 'active' | 'none') => {
      const page = await openPage({ forcedColors, viewport: { width: 1_024, height: 900 } })
      await page.getByRole('button', { name: 'order number' }).click()
      await shownText(page)
      await page.mouse.move(0, 0)
      const png = (await page.locator('.waveform').screenshot()).toString('base64')
      const count = async (data: string) => {
        const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob())
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d')!
        context.drawImage(image, 0, 0)
        const { data: pixels } = context.getImageData(0, 0, image.width, image.height)
        let dark = 0
        for (let at = 0; at < pixels.length; at += 4)
          if (pixels[at]! + pixels[at + 1]! + pixels[at + 2]! < 420) dark++
        return dark
      }
      return (await browser.newPage()).evaluate(count, png)
    }
    const [usual, forced] = [await dark('none'), await dark('active')]
    expect(usual).toBeGreaterThan(5_000)
    expect(forced).toBeGreaterThan(usual * 0.8)
  })

  test('records with the microphone, and reports one that is blocked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'microphone-'))
    const spoken = join(folder, 'spoken.wav')
    const silence = Buffer.alloc(32_000 * 1.5)
    const wav = Buffer.concat([digitsWav.subarray(0, 44), silence, digitsWav.subarray(44), silence])
    wav.writeUInt32LE(wav.length - 8, 4)
    wav.writeUInt32LE(wav.length - 44, 40)
    await writeFile(spoken, wav)
    const recording = await launchBrowser(
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${spoken}%noloop`,
    )
    onTestFinished(async () => {
      await recording.close()
      await rm(folder, { recursive: true })
    })
    const page = await recording.newPage()
    await page.goto(url)
    await page.getByRole('button', { name: 'Record', exact: true }).click()
    const shown = () => page.getByRole('button', { name: 'Stop recording' }).textContent()
    await expect
      .poll(async () => Number(/(\d+) s/.exec((await shown()) ?? '')?.[1]), longTimeout)
      .toBeGreaterThanOrEqual(6)
    await page.getByRole('button', { name: 'Stop recording' }).click()
    await page.getByLabel('What is spoken?').selectOption('digits')
    expect(await shownText(page)).toBe(digits.text)
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))
    })
    await page.getByRole('button', { name: 'Record', exact: true }).click()
    expect(await page.getByRole('alert').textContent()).toBe(
      'The microphone is blocked. Allow it in the browser’s settings.',
    )
  })
})
