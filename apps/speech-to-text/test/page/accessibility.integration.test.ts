import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type AxeCore from 'axe-core'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { samples, samplesFolder } from '../run-command.ts'
import { drop, hasChromium, playSlowly, shownText, useApplication } from './web-page.ts'

const [[file, text], [otherFile]] = Object.entries(samples) as [[string, string], [string, string]]
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(!hasChromium)('accessibility of the page', { timeout: 120_000 }, () => {
  const started = useApplication()

  async function findings(page: Page): Promise<string[]> {
    // Evaluated through the debugger: the content security policy blocks other scripts.
    await page.evaluate(axe)
    return page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: typeof AxeCore }
      const { violations } = await axe.run({ resultTypes: ['violations'], selectors: false })
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
    })
  }

  // Colours depend on the scheme, and the layout on the width: two combinations cover both.
  test.each([
    ['dark', 1280],
    ['light', 320],
  ] as const)(
    'axe finds no violations and nothing overflows: %s, %i pixels wide',
    async (colorScheme, width) => {
      const context = await started.browser.newContext({ colorScheme, viewport: { width, height: 800 } })
      const page = await context.newPage()
      await page.goto(started.running.url)
      await page.getByRole('button', { name: 'Choose files' }).waitFor()
      expect(await findings(page)).toEqual([])
      await drop(page, [
        { name: 'notes.txt', content: Buffer.from('no recording') },
        { name: 'broken.wav', content: Buffer.from('RIFF    WAVE') },
        {
          name: `${'a-very-long-name-'.repeat(6)}.wav`,
          content: await readFile(join(samplesFolder, otherFile)),
        },
        { name: file, content: await readFile(join(samplesFolder, file)) },
      ])
      expect(await shownText(page)).toBe(text)
      expect(await findings(page)).toEqual([])
      await page.getByRole('button', { name: 'broken.wav' }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      expect(await findings(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      await context.close()
    },
  )

  test('works with the keyboard alone', async () => {
    const context = await started.browser.newContext()
    const page = await context.newPage()
    page.on('filechooser', (chooser) => void chooser.setFiles(join(samplesFolder, file)))
    await page.goto(started.running.url)
    await page.getByRole('button', { name: 'Choose files' }).waitFor()
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

    expect(await pressTab()).toBe('Choose files')
    await page.keyboard.press('Enter')
    expect(await shownText(page)).toBe(text)

    const stops: (string | null)[] = []
    for (let stop = 0; stop < 12; stop++) stops.push(await pressTab())
    const [first, second] = text.split(' ')
    expect(stops).toEqual([
      'Record',
      'Order number',
      'Parcel code',
      'Meter reading',
      first,
      'Play',
      'Copy text',
      'Save TXT',
      'Save SRT',
      'Save JSON',
      'Remove',
      'Through the server',
    ])

    await page.keyboard.press('ArrowDown')
    expect(await focus()).toBe('Directly')
    expect(await page.getByRole('heading', { name: 'This page’s token' }).isVisible()).toBe(true)

    for (let stop = 0; stop < 7; stop++) await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('ArrowRight')
    expect(await focus()).toBe(second)
    await page.keyboard.press('End')
    expect(await focus()).toBe(text.split(' ').at(-1))
    await playSlowly(page)
    await page.keyboard.press('Enter')
    await expect
      .poll(() => page.locator('.words button').last().getAttribute('aria-current'), { timeout: 20_000 })
      .toBe('true')

    for (let stop = 0; stop < 6; stop++) await page.keyboard.press('Tab')
    expect(await focus()).toBe('Remove')
    await page.keyboard.press('Enter')
    await page.locator('.recording').waitFor({ state: 'detached' })
    await expect.poll(focus).toBe('Undo')
    await page.keyboard.press('Enter')
    await page.locator('.recording').waitFor()
    expect(await focus()).toBe('Choose files')
    await context.close()
  })
})
