import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { axeViolations, hasChromium, inChromium, screenshots, usePages } from '../in-chromium/chromium.ts'
import { createGallery, type Direction } from './gallery.ts'

const widths = [1440, 1280, 1024, 768, 390]
const schemes = [
  { name: 'light', colorScheme: 'light', forcedColors: 'none' },
  { name: 'dark', colorScheme: 'dark', forcedColors: 'none' },
  { name: 'forced', colorScheme: 'light', forcedColors: 'active' },
] as const

describe.skipIf(!hasChromium)(`the gallery of components ${inChromium}`, () => {
  const openPage = usePages()

  async function openGallery(direction: Direction, options?: BrowserContextOptions): Promise<Page> {
    const gallery = createGallery()
    onTestFinished(() => gallery.close())
    const url = await gallery.listen()
    const page = await openPage(options)
    await page.goto(`${url}/${direction}`)
    await page.evaluate('document.fonts.ready')
    return page
  }

  /** In each scheme at each width. */
  async function inEachLook(page: Page, inspect: (look: string) => Promise<void>): Promise<void> {
    for (const { name, ...media } of schemes) {
      await page.emulateMedia(media)
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        await inspect(`${name}, ${width} px`)
      }
    }
  }

  it.each(['ltr', 'rtl'] as const)('fits at every width, with %s names', async (direction) => {
    const page = await openGallery(direction)
    await inEachLook(page, async (look) => {
      expect(await page.evaluate(faults), look).toEqual([])
      await shoot(page, `gallery-${direction}, ${look}`)
    })
    // Nothing is fixed to the left or to the right.
    await page.evaluate('document.documentElement.dir = "rtl"')
    expect(await page.evaluate(faults)).toEqual([])
  })

  it.each(['ltr', 'rtl'] as const)(
    'has enough contrast and large enough targets, menus open, with %s names',
    async (direction) => {
      const page = await openGallery(direction)
      await page.getByRole('button', { name: 'More actions' }).first().click()
      for (const [index, { name, ...media }] of schemes.entries()) {
        await page.emulateMedia(media)
        await page.setViewportSize({ width: index === 1 ? 390 : 1280, height: 900 })
        // Axe reads the colours of the style sheet, which are not those that forced colours show.
        const rules = name === 'forced' ? { 'color-contrast': { enabled: false } } : {}
        expect(await axeViolations(page, { 'target-size': { enabled: true }, ...rules }), name).toEqual([])
      }
      await page.keyboard.press('Escape')
      await page.getByRole('region', { name: 'Delete' }).getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog').waitFor()
      expect(await axeViolations(page, { 'target-size': { enabled: true } })).toEqual([])
    },
  )

  it('shows times in the time zone of the reader, and without scripts in UTC', async () => {
    const shown = async (options: BrowserContextOptions) => {
      const page = await openGallery('ltr', { timezoneId: 'Asia/Tokyo', ...options })
      const time = page.locator('dd time')
      await time.waitFor()
      return [await time.textContent(), await time.getAttribute('title')]
    }
    expect(await shown({})).toEqual(['1 Mar 2026, 21:00', '1 Mar 2026, 12:00 UTC'])
    expect(await shown({ javaScriptEnabled: false })).toEqual([
      '1 Mar 2026, 12:00 UTC',
      '1 Mar 2026, 12:00 UTC',
    ])
  })

  it('shows which entry, facet and page is current in forced colours', async () => {
    const page = await openGallery('ltr')
    await page.emulateMedia({ forcedColors: 'active' })
    const current = page.locator('[aria-current]')
    expect(await current.count()).toBe(5)
    for (const each of await current.all()) {
      const lines = await each.evaluate((element) => {
        const { outlineStyle, borderBlockEndStyle } = getComputedStyle(element)
        return [outlineStyle, borderBlockEndStyle]
      })
      expect(lines).toContain('solid')
    }
  })
})

async function shoot(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: resolve(screenshots, `${name}.png`), fullPage: true })
}

/** Runs in the page: what is broken, cut or too wide. */
const faults = `(() => {
  const found = []
  const visible = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0
  const describe = (element) => element.tagName.toLowerCase() + '.' + element.className + ' "' + element.textContent.trim().replaceAll(/\\s+/g, ' ').slice(0, 40) + '"'

  const overhang = document.documentElement.scrollWidth - innerWidth
  if (overhang > 0) found.push('the page scrolls sideways by ' + overhang + ' px')

  for (const list of document.querySelectorAll('.list, main table:not(details *)')) {
    const heights = new Set([...list.querySelectorAll('tbody tr')].map((row) => Math.round(row.getBoundingClientRect().height)))
    if (heights.size > 1) found.push('rows of ' + [...heights].join(', ') + ' px')
    for (const height of heights) if (height < 40 || height > 64) found.push('a row of ' + height + ' px')
    for (const cell of list.querySelectorAll('th, td')) {
      if (!visible(cell)) continue
      const { left, right, top, bottom } = cell.getBoundingClientRect()
      for (const part of cell.querySelectorAll(':not([popover], [popover] *, dialog, dialog *, .cut *, .names *, .visually-hidden, .visually-hidden *)')) {
        if (!visible(part)) continue
        const box = part.getBoundingClientRect()
        const slack = part.matches('.more') ? 8 : 0.5
        if (box.left < left - slack || box.right > right + slack) found.push(describe(part) + ' does not fit into its cell')
        if (box.top < top - 0.5 || box.bottom > bottom + 0.5) found.push(describe(part) + ' is higher than its row')
      }
    }
  }

  // Words, but those of names and of code, which have no place where they could be broken.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement
    if (parent.closest('script, .visually-hidden, .cut, .names') || !visible(parent)) continue
    const cell = parent.closest('.list :is(th, td)')
    if (cell && !parent.closest('.more, [popover]')) {
      range.selectNodeContents(node)
      const [box, text] = [cell.getBoundingClientRect(), range.getBoundingClientRect()]
      if (text.width > 0 && (text.left < box.left - 0.5 || text.right > box.right + 0.5)) found.push(describe(cell) + ' is too narrow for its text')
    }
    if (parent.closest('h1, dd, code, pre, textarea, select, .breadcrumbs, .notice, fieldset')) continue
    for (const { index, 0: word } of node.data.matchAll(/[^\\s\\u200b-]+/g)) {
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
      if (lines.size > 1) found.push('"' + word + '" is broken in ' + describe(parent))
    }
  }
  return found
})()`
