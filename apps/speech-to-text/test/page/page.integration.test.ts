import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { samples, samplesFolder, padWav, silentWav } from '../run-command.ts'
import { copiedText, drop, hasChromium, playSlowly, shownText, useApplication } from './web-page.ts'

const [file, text] = Object.entries(samples)[0]!
const longTimeout = { timeout: 20_000 }
const sample = (name: string) => readFile(join(samplesFolder, name))

describe.skipIf(!hasChromium)('the page', { timeout: 120_000 }, () => {
  const started = useApplication()
  let context: BrowserContext
  let page: Page
  let pageErrors: string[]
  beforeEach(async () => {
    context = await started.browser.newContext()
    pageErrors = []
    page = await context.newPage()
    page.on('pageerror', (error) => pageErrors.push(String(error)))
    await page.goto(started.running.url)
    await page.getByRole('button', { name: 'Choose files' }).waitFor()
  })
  afterEach(async () => {
    expect(pageErrors).toEqual([])
    await context.close()
  })

  const chooseRoute = (label: 'Directly' | 'Through the server') => page.getByLabel(label).check()
  const figure = (name: string) => page.getByTestId(name).textContent()

  test.each(['Directly', 'Through the server'] as const)('%s: transcribes a dropped file', async (label) => {
    await chooseRoute(label)
    await drop(page, [{ name: file, content: await sample(file) }])
    expect(await shownText(page)).toBe(text)
    // Through the server, the figures arrive on a separate connection.
    await expect.poll(() => figure('token-requests'), longTimeout).toBe('1')
    await expect.poll(() => figure('expires-in'), longTimeout).toMatch(/^\d+:\d\d$/)
  })

  test('directly: transcribes several files with one token request and lists them in the history', async () => {
    await chooseRoute('Directly')
    const names = Object.keys(samples)
    await drop(page, await Promise.all(names.map(async (name) => ({ name, content: await sample(name) }))))
    for (const spoken of Object.values(samples))
      await page.getByRole('listitem').filter({ hasText: spoken }).waitFor()
    await expect.poll(() => figure('api-calls'), longTimeout).toBe(String(names.length))
    expect(await figure('token-requests')).toBe('1')
    expect(await figure('refreshes')).toBe('0')
  })

  test.each(['Directly', 'Through the server'] as const)(
    '%s: reports that the speech API is down and keeps the recording, even after a reload',
    async (label) => {
      await chooseRoute(label)
      await started.running.killSpeech()
      await drop(page, [{ name: file, content: await sample(file) }])
      const error = page.locator('.error')
      await error.waitFor()
      expect(await error.locator('p').textContent()).toMatch(
        /^The (speech API|server) could not .*The recording was kept|^The server could not reach the speech API at .* was kept\. Try again later\.$/,
      )
      await page.reload()
      await started.running.startSpeech()
      await page.getByRole('button', { name: 'Try again' }).click()
      expect(await shownText(page)).toBe(text)
    },
  )

  test.each(['Directly', 'Through the server'] as const)(
    '%s: shows the progress of a long recording, and that it was lost when the speech API restarted',
    async (label) => {
      const rest = Promise.withResolvers<void>()
      const job = /\/transcriptions\/[\w-]+$/
      await page.route(job, async (route) => {
        if (route.request().method() === 'GET') await rest.promise
        await route.continue()
      })
      await chooseRoute(label)
      await drop(page, [{ name: 'long.wav', content: padWav(await sample(file), 30) }])
      await page.getByText('Transcribing, 0%').first().waitFor()
      await started.running.killSpeech()
      await started.running.startSpeech()
      rest.resolve()
      await page.getByText('The speech API lost the recording while transcribing it.').first().waitFor()
      await page.unroute(job)
      await page.getByRole('button', { name: 'Try again' }).click()
      expect(await shownText(page)).toBe(text)
    },
  )

  test.each(['Directly', 'Through the server'] as const)(
    '%s: starts a new session after the old one has expired and transcribes the recording',
    async (label) => {
      await chooseRoute(label)
      await started.running.restartServer()
      await drop(page, [{ name: file, content: await sample(file) }])
      await page.getByText('Your session has expired. The recording was kept.').first().waitFor()
      await page.getByRole('button', { name: 'Start a new session and try again' }).click()
      expect(await shownText(page)).toBe(text)
    },
  )

  test('names invalid files and transcribes the others', async () => {
    await drop(page, [
      { name: 'notes.txt', content: Buffer.from('These are notes.') },
      { name: 'empty.wav', content: Buffer.alloc(0) },
      { name: 'large.wav', content: silentWav(0.1), padding: 26 * 1024 * 1024 },
      { name: file, content: await sample(file) },
    ])
    expect(await shownText(page)).toBe(text)
    expect(await page.getByRole('alert').locator('p').allTextContents()).toEqual([
      'notes.txt is not a recording that this browser can read.',
      'empty.wav is empty.',
      'large.wav is too large. The speech API accepts up to 25 MiB.',
    ])
  })

  test('shows the error message of the speech API', async () => {
    await drop(page, [{ name: 'cut.wav', content: silentWav(1).subarray(0, 40) }])
    await page.locator('.error p').waitFor()
    expect(await page.locator('.error p').textContent()).toMatch(/\.$/)
    // There is nothing to play.
    await page.getByRole('button', { name: 'Play' }).waitFor({ state: 'detached' })
  })

  test('plays a word on a click and marks it while it plays', async () => {
    await drop(page, [{ name: file, content: await sample(file) }])
    await shownText(page)
    await playSlowly(page)
    const third = page.locator('.words button').nth(2)
    await third.click()
    await expect
      .poll(() => third.getAttribute('aria-current'), { timeout: 20_000, interval: 10 })
      .toBe('true')
    await page.getByRole('button', { name: 'Play' }).waitFor()
  })

  test('saves the transcript as TXT, SRT and JSON', async () => {
    await drop(page, [{ name: file, content: await sample(file) }])
    await shownText(page)
    const save = async (format: string) => {
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: `Save ${format}` }).click()
      const download = await downloading
      return {
        name: download.suggestedFilename(),
        content: await readText(await download.createReadStream()),
      }
    }
    const base = file.replace('.wav', '')
    expect(await save('TXT')).toEqual({ name: `${base}.txt`, content: `${text}\n` })
    const { name, content } = await save('SRT')
    expect(name).toBe(`${base}.srt`)
    expect(content).toMatch(new RegExp(`^1\n00:00:00,\\d{3} --> 00:00:0\\d,\\d{3}\n${text}\n$`))
    expect(JSON.parse((await save('JSON')).content)).toMatchObject({ text, segments: expect.any(Array) })
  })

  test('shows the progress of an upload', async () => {
    const devtools = await context.newCDPSession(page)
    const uploadAt = (uploadThroughput: number) =>
      devtools.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      })
    await uploadAt(100_000)
    await drop(page, [{ name: 'long.wav', content: silentWav(30) }])
    const shown = () => page.locator('progress').evaluate((bar: HTMLProgressElement) => bar.value)
    await expect
      .poll(async () => (await shown()) > 0.1 && (await shown()) < 1, { interval: 20, timeout: 20_000 })
      .toBe(true)
    await uploadAt(-1)
    await page.locator('.warning', { hasText: 'The recording is silent.' }).waitFor()
  })

  test('transcribes a sample, through the server by default, and copies its text', async () => {
    expect(await page.getByLabel('Through the server').isChecked()).toBe(true)
    await context.grantPermissions(['clipboard-write'])
    await page.getByRole('button', { name: 'Order number' }).click()
    expect(await shownText(page)).toBe(samples['order-number.wav'])
    const copy = page.getByRole('button', { name: 'Copy text' })
    expect(await copiedText(page, () => copy.click())).toBe(samples['order-number.wav'])
    await page.getByRole('button', { name: 'Copied' }).waitFor()
  })

  test('shows the progress of several files, and cancels one or all of them', async () => {
    const devtools = await context.newCDPSession(page)
    const uploadAt = (uploadThroughput: number) =>
      devtools.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      })
    await uploadAt(20_000)
    const names = ['a.wav', 'b.wav', 'c.wav', 'd.wav']
    const content = await sample(file)
    await drop(
      page,
      names.map((name) => ({ name, content })),
    )
    for (const name of names) await page.getByRole('progressbar', { name: `Progress of ${name}` }).waitFor()
    await page.getByRole('button', { name: 'Cancel b.wav' }).click()
    await page.getByRole('listitem').filter({ hasText: 'b.wav' }).filter({ hasText: 'Cancelled' }).waitFor()
    await page.getByRole('button', { name: 'Cancel all' }).click()
    await expect
      .poll(() => page.getByText('Cancelled', { exact: true }).count(), longTimeout)
      .toBe(names.length)
    await uploadAt(-1)
    await page.getByRole('button', { name: 'Transcribe again' }).click()
    expect(await shownText(page)).toBe(text)
  })

  test('restores a removed recording, or removes it permanently', async () => {
    await drop(page, [{ name: file, content: await sample(file) }])
    await shownText(page)
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText(`Removed ${file}.`).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await shownText(page)).toBe(text)
    await page.reload()
    expect(await shownText(page)).toBe(text)

    await page.getByRole('button', { name: 'Remove' }).click()
    await page.locator('.recording').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('button', { name: 'Choose files' }).waitFor()
    expect(await page.locator('.recording').count()).toBe(0)
  })
})
