import { createTokenProvider, tokenResponseBody, type TokenProvider, type TokenSource } from '@tokenwell/core'
import { json, startScriptedServer, type ReceivedRequest, type ScriptedServer } from './index.ts'
import type { Browser, Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { openBrowser } from './browser.ts'

export { hasChromium, inChromium } from './browser.ts'

/** A page and its backend, where `POST /token` returns a token of the source. */
export interface ChromiumPage {
  backend: ScriptedServer
  /** Calls a function in the page. It cannot use anything from its closure. */
  evaluate<Value, Argument>(run: (argument: Argument) => Promise<Value>, argument: Argument): Promise<Value>
  /** Headers and bodies of the responses that the browser received and of those that its backend sent. */
  received(): Promise<string>
}

/**
 * Opens a new page for each test.
 *
 * @param entry path of the page's script, bundled from the packages' sources
 */
export function useChromiumPage(entry: string, source: () => TokenSource): ChromiumPage {
  const opened = {} as ChromiumPage & { page: Page; tokens: TokenProvider }
  let browser: Browser
  let script: string
  beforeAll(async () => {
    script = await bundle(entry)
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  beforeEach(async () => {
    const tokens = createTokenProvider(source())
    const backend = await startScriptedServer((request) => servePage(request, script, tokens))
    const page = await browser.newPage()
    const received: Promise<string>[] = []
    page.on('response', (response) => {
      const body = response.text().catch(() => '')
      received.push(Promise.all([response.allHeaders(), body]).then((parts) => JSON.stringify(parts)))
    })
    await page.goto(backend.origin)
    Object.assign(opened, {
      page,
      tokens,
      backend,
      evaluate: (run: never, argument: unknown) => page.evaluate(run, argument),
      received: async () => [...(await Promise.all(received)), ...backend.sent].join('\n'),
    })
  })
  afterEach(async () => {
    await opened.page.close()
    await Promise.all([opened.tokens.close(), opened.backend.close()])
  })
  return opened
}

async function servePage({ method, url }: ReceivedRequest, script: string, tokens: TokenProvider) {
  if (method === 'POST' && url === '/token') {
    const token = await tokens.getToken({ forceRefresh: true })
    return json(tokenResponseBody(token), 200, { 'cache-control': 'no-store' })
  }
  if (url === '/script.js') return { headers: { 'content-type': 'text/javascript' }, body: script }
  const body = '<!doctype html><title>A page</title><script type="module" src="/script.js"></script>'
  return { headers: { 'content-type': 'text/html' }, body }
}

/** Allows pages of other origins to use the server (CORS). */
export function allowPages(server: ScriptedServer): void {
  const { respond } = server
  server.respond = async (request) => {
    const cors = {
      'access-control-allow-origin': request.headers.origin ?? '*',
      'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '',
      'access-control-expose-headers': 'WWW-Authenticate',
    }
    if (request.method === 'OPTIONS') return { status: 204, headers: cors }
    const response = await respond(request)
    return response === 'drop' ? response : { ...response, headers: { ...cors, ...response.headers } }
  }
}

async function bundle(entry: string): Promise<string> {
  const built = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { conditionNames: ['@tokenwell/source', 'browser', 'import', 'default'] },
  })
  const { output } = await built.generate({ format: 'esm' })
  await built.close()
  return output[0].code
}
