import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { openBrowser, copiedText } from '@tokenwell/internal-testing/browser'
import { startTokenService, type RunningTokenService } from '@tokenwell/token-service'
import { requestToken, resourceServer } from '../../test-service.ts'
import { password } from '../portal-browser.ts'

export { hasChromium, inChromium } from '@tokenwell/internal-testing/browser'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** A folder for a screenshot of every page. */
export const screenshots = process.env['SCREENSHOT_FOLDER']

const isSoak = process.env['TOKENWELL_SOAK'] === '1'

/** A browser on a busy machine needs time for a page. */
export const timeout = { timeout: 30_000 }

/** Opens pages that fail the test on any error in their console, such as a violated content security policy. */
export function usePages(): (options?: BrowserContextOptions) => Promise<Page> {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())
  return (options) => openPage(browser, options)
}

async function openPage(browser: Browser, options?: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({
    permissions: ['clipboard-write'],
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  })
  const consoleErrors: string[] = []
  const page = await context.newPage()
  page.on('pageerror', (error) => consoleErrors.push(error.message))
  page.on('console', (message) => {
    // Some tests expect an error response.
    const isExpected = message.text().startsWith('Failed to load resource: the server responded with')
    if (message.type() === 'error' && !isExpected) consoleErrors.push(message.text())
  })
  page.setDefaultTimeout(timeout.timeout)
  onTestFinished(async () => {
    await context.close()
    expect(consoleErrors).toEqual([])
  })
  return page
}

interface AxeResult {
  readonly violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[]
}

interface Look {
  readonly width: number
  readonly height: number
  readonly colorScheme: 'light' | 'dark'
}

// Colours depend on the scheme, and the layout on the width: two combinations cover both. 640 px is 1280 px at 200 %.
const looks = {
  narrow: { width: 390, height: 844, colorScheme: 'light' },
  zoomed: { width: 640, height: 450, colorScheme: 'light' },
  wide: { width: 1280, height: 900, colorScheme: 'dark' },
} as const satisfies Record<string, Look>
const allLooks: readonly Look[] = Object.values(looks)
const otherLooks: readonly Look[] = [
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 1280, height: 900, colorScheme: 'light' },
]

// 1280 px at 400 %, 1440 px at 200 %, and a tablet, where the menu takes a part of the width.
const otherWidths = [320, 720, 1024]

const inspected = new WeakMap<Page, number>()

/**
 * Checks the page with axe, and that it does not scroll sideways. `pnpm soak` checks each page in each look; a test, for
 * which that takes too long, one look after the other, and the narrowest width.
 */
export async function inspectPage(page: Page, name: string): Promise<void> {
  const before = page.viewportSize()
  const times = inspected.get(page) ?? 0
  inspected.set(page, times + 1)
  const look = allLooks[times % allLooks.length]!
  for (const { width, height, colorScheme } of looksOf(look)) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme })
    // Colours may change gradually, also after the page has reacted in the next frame.
    await page.evaluate(`new Promise(requestAnimationFrame).then(() =>
      Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))`)
    expect(await axeViolations(page), `${name}, ${width} px, ${colorScheme}`).toEqual([])
    await expectToFit(page, name)
    if (screenshots !== undefined) {
      mkdirSync(screenshots, { recursive: true })
      await page.screenshot({
        path: resolve(screenshots, `${name}-${width}-${colorScheme}.png`),
        fullPage: true,
      })
    }
  }
  for (const width of isSoak ? otherWidths : otherWidths.slice(0, 1)) {
    await page.setViewportSize({ width, height: 900 })
    await expectToFit(page, name)
  }
  if (before) await page.setViewportSize(before)
}

/** What axe finds in the page as it is now. `rules`: those that are switched on or off. */
export async function axeViolations(page: Page, rules: object = {}): Promise<unknown[]> {
  await page.evaluate(axe)
  const options = JSON.stringify({ resultTypes: ['violations'], selectors: false, rules })
  const { violations } = await page.evaluate<AxeResult>(`axe.run(${options})`)
  return violations.map(({ id, nodes }) => [id, ...nodes.map((node) => [node.html, node.failureSummary])])
}

function looksOf(look: Look): readonly Look[] {
  if (screenshots !== undefined) return [...allLooks, ...otherLooks]
  return isSoak ? allLooks : [look]
}

async function expectToFit(page: Page, name: string): Promise<void> {
  const [overhang, width] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth - innerWidth, innerWidth]',
  )
  expect(overhang, `${name} scrolls sideways at ${width} px`).toBeLessThanOrEqual(0)
}

export async function startServiceWithPortal(): Promise<RunningTokenService> {
  const products = ['sms', 'speech-to-text']
  const service = await startTokenService({
    resourceServers: [resourceServer],
    portal: true,
    products,
  })
  onTestFinished(() => service.close())
  return service
}

export async function join(page: Page, link: string, name = 'Ada'): Promise<void> {
  await page.goto(link)
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('heading', { name: 'Get started' }).waitFor()
}

export const joinAsFirst = async (page: Page, service: RunningTokenService) =>
  join(page, (await service.createSetupLink()) ?? '')

/** By the first-run page. */
export async function createProjectAndApplication(page: Page, name = 'Transcriber'): Promise<void> {
  await page.getByLabel('Project name').fill('Speech')
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.getByRole('status').getByText('The project was created').waitFor()
  await page.getByLabel('Application name').fill(name)
  await page.getByLabel('sms').check()
  await page.getByRole('button', { name: 'Create application' }).click()
  await page.getByRole('heading', { name: 'Copy the secret now' }).waitFor()
}

export const credentials = async (page: Page) => ({
  clientId: (await page.locator('#client-id').textContent()) ?? '',
  clientSecret: (await page.locator('#client-secret').textContent()) ?? '',
})

export const copied = (page: Page, button: string) =>
  copiedText(page, () => page.getByRole('button', { name: button }).click())

export async function confirm(page: Page, button: string, confirmation: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await dialog.getByRole('button', { name: confirmation }).click()
}

/** Moves the focus there with the keyboard. */
export async function tabTo(target: Locator): Promise<void> {
  await target.waitFor()
  for (let step = 0; step < 400; step += 1) {
    if (await target.evaluate((element) => element.matches(':focus'))) return
    await target.page().keyboard.press('Tab')
  }
  throw new Error(`${String(target)} cannot be reached.`)
}

/** Opens a tab of the application's page. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Application' }).getByRole('link', { name }).click()
  await page
    .getByRole('navigation', { name: 'Application' })
    .locator('[aria-current]', { hasText: name })
    .waitFor()
}

export const tokenStatus = async (service: RunningTokenService, clientId: string, clientSecret: string) =>
  (await requestToken(service.authUrl, { clientId, clientSecret } as never)).status
