import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { sharedServer, type SharedServer } from './shared-server.ts'

const executablePath =
  process.env['CHROMIUM_PATH'] ??
  // Without a user interface, it takes a third less of the processor.
  ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ??
  ''
const options = {
  executablePath,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
}

export const hasChromium = existsSync(executablePath)
/** For the titles of tests that need Chromium: names the fix where it is not installed. */
export const inChromium = `in Chromium${hasChromium ? '' : ' (install it, or set CHROMIUM_PATH)'}`

/** A connection to the Chromium that all test files share; closing it closes its pages. */
export async function openBrowser(): Promise<Browser> {
  const url = await sharedServer('chromium')
  return url === undefined ? launchBrowser() : chromium.connect(url)
}

/** A separate Chromium. */
export function launchBrowser(...args: string[]): Promise<Browser> {
  return chromium.launch({ ...options, args: [...options.args, ...args] })
}

export async function startChromium(): Promise<SharedServer> {
  const server = await chromium.launchServer(options)
  return { url: server.wsEndpoint(), stop: () => server.close() }
}

/** What a page copies. All pages of the shared Chromium have one clipboard, so another test may write to it meanwhile. */
export async function copiedText(page: Page, copy: () => Promise<void>): Promise<string> {
  const copied = page.evaluate<string>(`new Promise((resolve, reject) => {
    const { clipboard } = navigator
    clipboard.writeText = (text) => {
      delete clipboard.writeText
      return clipboard.writeText(text).then(() => resolve(text), reject)
    }
  })`)
  const [text] = await Promise.all([copied, copy()])
  return text
}
