import type { Page } from 'playwright-core'

/** What a page may cost that is opened for the first time, on a slow processor. */
export const pageBudget = { bytes: 100_000, interactiveMs: 1_000, shift: 0.1 }

const slowdown = 4
const observedMs = 1_000
// What else runs on the machine delays some of them.
const loads = 5

export interface PageLoad {
  /** What was transferred, headers included. */
  readonly bytes: number
  /** When the page first shows something. */
  readonly paintMs: number
  /** From then on, the page shows its content, its scripts have run, and no task blocks it for 50 ms or longer. */
  readonly interactiveMs: number
  /** How far the page moved what it has shown. */
  readonly shift: number
}

/** Opens a page several times without a cache, on a processor that is four times slower: the fastest load. */
export async function measurePageLoad(page: Page, url: string): Promise<PageLoad> {
  const measured: PageLoad[] = []
  while (measured.length < loads) measured.push(await measureOnce(page, url))
  return {
    bytes: Math.max(...measured.map(({ bytes }) => bytes)),
    paintMs: Math.min(...measured.map(({ paintMs }) => paintMs)),
    interactiveMs: Math.min(...measured.map(({ interactiveMs }) => interactiveMs)),
    shift: Math.max(...measured.map(({ shift }) => shift)),
  }
}

export function describePageLoad({ bytes, paintMs, interactiveMs, shift }: PageLoad): string {
  const interactive = `first paint after ${Math.round(paintMs)} ms, interactive after ${Math.round(interactiveMs)} ms`
  return `${bytes.toLocaleString('en')} bytes, ${interactive}, layout shift ${shift.toFixed(3)}`
}

async function measureOnce(page: Page, url: string): Promise<PageLoad> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await page.goto(url)
  const interactiveMs = await page.evaluate<number>(`new Promise((resolve) => {
    const [{ domContentLoadedEventEnd }] = performance.getEntriesByType('navigation')
    let end = domContentLoadedEventEnd
    const observe = (type) =>
      new PerformanceObserver((list) => {
        for (const { startTime, duration } of list.getEntries()) end = Math.max(end, startTime + duration)
      }).observe({ type, buffered: true })
    observe('paint')
    observe('longtask')
    setTimeout(() => resolve(end), ${observedMs})
  })`)
  const paintMs = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`,
  )
  const shift = await layoutShift(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await session.detach()
  return { bytes, paintMs, interactiveMs, shift }
}

/** How far the page has moved what it had shown, and moves it in the next `ms` milliseconds. */
export function layoutShift(page: Page, ms = 200): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) sum += entry.value
    }).observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(sum), ${ms})
  })`)
}
