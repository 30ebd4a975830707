import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type AxeCore from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { layoutShift, pageBudget } from '@tokenwell/internal-testing/page-load'
import {
  application,
  pageApplication,
  pageLifetimeSeconds,
  padWav,
  sampleOf,
  samplesFolder,
} from '../platform.ts'
import {
  drop,
  hasChromium,
  launchBrowser,
  shownText,
  startRecordingProxy,
  useApplication,
  type DroppedFile,
} from './web-page.ts'

// What only a browser can show. The logic of the page is tested in page.test.ts.

const { file, text } = sampleOf('digits')
const longTimeout = { timeout: 20_000 }
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const sample = async (name: string): Promise<DroppedFile> => ({
  name,
  content: await readFile(join(samplesFolder, name)),
})

describe.skipIf(!hasChromium)('the page in Chromium', () => {
  const started = useApplication()

  /** Fails on any error in the page, such as a violated content security policy. */
  async function openPage(options?: BrowserContextOptions, prepare?: (page: Page) => Promise<void>) {
    const context = await started.browser.newContext(options)
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    onTestFinished(async () => {
      await context.close()
      expect(errors).toEqual([])
    })
    await prepare?.(page)
    await page.goto(started.running.url)
    await page.getByRole('button', { name: 'Choose files' }).waitFor()
    return page
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
    await drop(page, [await sample(file)])
    await page.locator('.waveform canvas').first().waitFor()
    expect(await page.getByRole('button', { name: 'Play', exact: true }).isVisible()).toBe(true)
    expect(await transferred()).toBeGreaterThan(first)
  })

  const figure = (page: Page, name: string) => page.getByTestId(name).textContent()

  test('through the server: gets no token, and keeps the recording over outages and reloads', async () => {
    const proxy = await startRecordingProxy()
    onTestFinished(() => proxy.close())
    const page = await openPage({
      proxy: { server: proxy.server },
      colorScheme: 'dark',
      viewport: { width: 1280, height: 800 },
    })
    const holding = (part: string) => proxy.responses.filter((response) => response.includes(part))
    await drop(page, [await sample(file)])
    expect(await shownText(page)).toBe(text)
    // The figures arrive on a separate connection.
    await expect.poll(() => figure(page, 'token-requests'), longTimeout).toBe('1')
    await expect.poll(() => figure(page, 'expires-in'), longTimeout).toMatch(/^\d+:\d\d$/)
    expect(holding('access_token":')).toEqual([])
    expect(holding('Bearer"')).toEqual([])
    for (const { clientSecret } of [application, pageApplication]) expect(holding(clientSecret)).toEqual([])

    await started.running.killSpeech()
    await drop(page, [{ ...(await sample(file)), name: `${'a-very-long-name-'.repeat(6)}.wav` }])
    await page.locator('.error').waitFor()
    expect(await page.locator('.error p').textContent()).toMatch(
      /could not reach the speech API at .* was kept\./,
    )
    await expectAccessible(page)
    await page.reload()
    await started.running.startSpeech()
    await page.getByRole('button', { name: 'Try again', exact: true }).click()
    expect(await shownText(page)).toBe(text)
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Removed a-very').waitFor()
    await page.reload()
    await page.getByRole('heading', { name: file }).waitFor()
    expect(await page.locator('.recording').count()).toBe(1)
  })

  test('directly: gets one token, which is replaced when it has expired or was revoked', async () => {
    const proxy = await startRecordingProxy()
    onTestFinished(() => proxy.close())
    const page = await openPage(
      { proxy: { server: proxy.server }, colorScheme: 'light', viewport: { width: 390, height: 844 } },
      (page) => page.clock.install(),
    )
    await page.getByLabel('Directly').check()
    await drop(page, [await sample(file), { ...(await sample(file)), name: 'other.wav' }])
    await expect.poll(() => page.getByRole('listitem').filter({ hasText: text }).count(), longTimeout).toBe(2)
    expect(await figure(page, 'token-requests')).toBe('1')
    await expectAccessible(page)
    const [response, ...others] = proxy.responses.filter((each) => each.includes('"access_token":'))
    expect(others).toEqual([])
    expect(response).toContain('no-store')
    const [, token = ''] = /"access_token":"([^"]+)"/.exec(response!)!
    expect(await page.content()).not.toContain(token)

    const transcribe = async (calls: number) => {
      await drop(page, [await sample(file)])
      await expect
        .poll(() => figure(page, 'api-calls').then(Number), longTimeout)
        .toBeGreaterThanOrEqual(calls)
      await page.locator('.words').waitFor()
    }
    await started.running.revoke(token, pageApplication)
    // The speech API caches the introspection response for a few seconds.
    await expect
      .poll(
        async () => {
          await transcribe(Number(await figure(page, 'api-calls')) + 1)
          return figure(page, 'refreshes')
        },
        { timeout: 40_000, interval: 500 },
      )
      .toBe('1')
    expect(await page.locator('.error').count()).toBe(0)
    await page.clock.fastForward(pageLifetimeSeconds * 1000)
    await expect.poll(() => figure(page, 'expires-in'), longTimeout).toBe('–')
    await transcribe(Number(await figure(page, 'api-calls')) + 1)
    expect(await figure(page, 'refreshes')).toBe('2')
  })

  test('works with the keyboard alone', async () => {
    const page = await openPage()
    page.on('filechooser', (chooser) => void chooser.setFiles(join(samplesFolder, file)))
    /** The name of the focused element, and whether the focus is visible. */
    const focus = () =>
      page.evaluate(() => {
        const element = document.activeElement as HTMLInputElement
        const name = element.labels?.[0]?.textContent ?? element.textContent
        return getComputedStyle(element).outlineStyle === 'none' ? `${name} (not shown)` : name
      })
    const pressTab = async (): Promise<string | null> => {
      await page.keyboard.press('Tab')
      return focus()
    }
    expect(await pressTab()).toBe('What is spoken')
    expect(await pressTab()).toBe('Choose files')
    await page.keyboard.press('Enter')
    expect(await shownText(page)).toBe(text)
    const stops: (string | null)[] = []
    for (let stop = 0; stop < 13; stop++) stops.push(await pressTab())
    const samplesShown = [
      'Order number',
      'Meter reading',
      'Appointment',
      'Parcel code',
      'Command',
      'Announcement',
    ]
    const buttons = ['Play', 'Copy text', 'Export', 'Remove', 'Through the server']
    expect(stops).toEqual(['Record', ...samplesShown, text.split(' ')[0], ...buttons])
    await page.keyboard.press('ArrowDown')
    expect(await focus()).toBe('Directly')
    await page.getByRole('heading', { name: 'This page’s token' }).waitFor()
    for (let stop = 0; stop < 2; stop++) await page.keyboard.press('Shift+Tab')
    expect(await focus()).toBe('Export')
    await page.keyboard.press('Enter')
    const downloading = page.waitForEvent('download')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect((await downloading).suggestedFilename()).toBe(file.replace('.wav', '.txt'))
    expect(await focus()).toBe('Export')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('.recording').waitFor({ state: 'detached' })
    await expect.poll(focus).toBe('Undo')
  })

  test('does not move when a transcript arrives', async () => {
    const page = await openPage({ viewport: { width: 390, height: 844 } })
    const sent = Promise.withResolvers<void>()
    const arrival = Promise.withResolvers<void>()
    await page.route('**', async (route) => {
      if (route.request().method() === 'POST') {
        sent.resolve()
        await arrival.promise
      }
      await route.continue()
    })
    await drop(page, [await sample(file)])
    await sent.promise
    // The recording was added by the user, and may move what is below it.
    const before = await layoutShift(page)
    arrival.resolve()
    await page.locator('.words').waitFor()
    expect((await layoutShift(page)) - before).toBeLessThan(pageBudget.shift)
  })

  test('records with the microphone, and reports one that is blocked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'microphone-'))
    const spoken = join(folder, 'spoken.wav')
    await writeFile(spoken, padWav(await readFile(join(samplesFolder, file)), 1.5))
    const browser = await launchBrowser(
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${spoken}%noloop`,
    )
    onTestFinished(async () => {
      await browser.close()
      await rm(folder, { recursive: true })
    })
    const page = await browser.newPage()
    await page.goto(started.running.url)
    await page.getByRole('button', { name: 'Record' }).click()
    // The page may skip a second.
    const shown = () => page.getByRole('button', { name: 'Stop recording' }).textContent()
    const recorded = async () => Number(/(\d+) s/.exec((await shown()) ?? '')?.[1])
    await expect.poll(recorded, longTimeout).toBeGreaterThanOrEqual(6)
    expect(await page.getByRole('meter', { name: 'Input level' }).isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Stop recording' }).click()
    expect(await shownText(page)).toBe(text)
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))
    })
    await page.getByRole('button', { name: 'Record' }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toBe('The microphone is blocked. Allow it in the browser’s settings.')
  })
})
