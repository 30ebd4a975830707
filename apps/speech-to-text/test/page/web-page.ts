import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { openBrowser } from '@tokenwell/internal-testing/browser'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { application, stop, pageApplication, spawnServer, spawnSpeech, startTokens } from '../platform.ts'

/** An HTTP proxy that records all responses to the browser. */
export interface RecordingProxy {
  readonly server: string
  /** Heads and bodies of the responses, as text. */
  readonly responses: readonly string[]
  close(): void
}

export async function startRecordingProxy(): Promise<RecordingProxy> {
  const responses: string[] = []
  const proxy = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const passed = request(url!, { method: method!, headers }, (response) => {
      const index = responses.push(JSON.stringify([url, response.statusCode, response.rawHeaders])) - 1
      response.on('data', (bytes: Buffer) => (responses[index] += bytes.toString('latin1')))
      outgoing.writeHead(response.statusCode!, response.rawHeaders)
      response.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    server: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    responses,
    close() {
      proxy.close()
      proxy.closeAllConnections()
    },
  }
}

export { hasChromium, launchBrowser, openBrowser } from '@tokenwell/internal-testing/browser'

/** The whole application: the token service in this process, the speech API and the server in others. */
export interface RunningApplication {
  readonly url: string
  readonly speechUrl: string
  /** Kills it with SIGKILL. */
  killSpeech(): Promise<void>
  /** Starts it on the same port again. */
  startSpeech(): Promise<void>
  /** All sessions expire. */
  restartServer(): Promise<void>
  /** Revokes a token (RFC 7009). */
  revoke(token: string, owner: typeof application): Promise<void>
  close(): Promise<void>
}

export async function startApplication(): Promise<RunningApplication> {
  const [port, speechPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const speechUrl = `http://127.0.0.1:${speechPort}`
  const tokens = await startTokens()
  const startOwn = () =>
    spawnServer(fileURLToPath(new URL('../../dist/serve.js', import.meta.url)), {
      PORT: String(port),
      AUTH_URL: tokens.authUrl,
      SPEECH_URL: speechUrl,
      CLIENT_ID: application.clientId,
      CLIENT_SECRET: application.clientSecret,
      PAGE_AUTH_URL: tokens.authUrl,
      PAGE_CLIENT_ID: pageApplication.clientId,
      PAGE_CLIENT_SECRET: pageApplication.clientSecret,
    })
  // A killed server does not remove its temporary files.
  const folder = await mkdtemp(join(tmpdir(), 'application-'))
  const startSpeech = () => spawnSpeech(tokens.authUrl, speechPort, { ALLOWED_ORIGINS: url, TMPDIR: folder })
  let speech = await startSpeech()
  let server = await startOwn()
  return {
    url,
    speechUrl,
    killSpeech: () => stop(speech, 'SIGKILL'),
    async startSpeech() {
      speech = await startSpeech()
    },
    async restartServer() {
      await stop(server)
      server = await startOwn()
    },
    async revoke(token, { clientId, clientSecret }) {
      const body = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret })
      const { status } = await fetch(`${tokens.authUrl}/oauth/revoke`, { method: 'POST', body })
      if (status !== 200) throw new Error(`The token was not revoked (status ${status}).`)
    },
    async close() {
      await Promise.all([stop(server), stop(speech)])
      await tokens.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Starts the application and Chromium before the tests of a `describe` block, and stops them afterwards. */
export function useApplication(): { readonly running: RunningApplication; readonly browser: Browser } {
  let running: RunningApplication
  let browser: Browser
  beforeAll(async () => {
    running = await startApplication()
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.close()
  })
  return {
    get running() {
      return running
    },
    get browser() {
      return browser
    },
  }
}

export interface DroppedFile {
  readonly name: string
  readonly content: Buffer
  /** Number of zero bytes after the content. */
  readonly padding?: number
}

/** Drops files on the page. */
export async function drop(page: Page, files: readonly DroppedFile[]): Promise<void> {
  const transfer = await page.evaluateHandle(
    (files) => {
      const transfer = new DataTransfer()
      for (const { name, base64, padding = 0 } of files) {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
        transfer.items.add(new File([bytes, new Uint8Array(padding)], name))
      }
      return transfer
    },
    files.map(({ content, ...file }) => ({ ...file, base64: content.toString('base64') })),
  )
  await page.dispatchEvent('section[aria-label="Add recordings"]', 'drop', { dataTransfer: transfer })
}

/** Waits for the transcript and returns its text. */
export async function shownText(page: Page): Promise<string> {
  await page.waitForSelector('.words')
  return (await page.locator('.words button').allTextContents()).join(' ')
}
