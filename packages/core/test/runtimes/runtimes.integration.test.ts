import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium, type Browser } from 'playwright-core'
import { expect, it, afterAll, beforeAll, describe } from 'vitest'
import { buildCore } from '../package/built-core.ts'
import { startSmokeServer } from './smoke-server.ts'

it('the published file passes the smoke test in this version of Node', async () => {
  const { chunks, file } = await buildCore()
  const origin = await startSmokeServer(chunks)
  const script = fileURLToPath(new URL('run-smoke.mjs', import.meta.url))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, file, origin])
  expect(JSON.parse(stdout)).toHaveLength(12)
  expect(stderr).toBe('')
})

const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'
const present = existsSync(executablePath)
const flags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking ' +
  '--disable-component-update --disable-sync'

if (!present)
  process.stderr.write('No Chromium: install it, or set CHROMIUM_PATH, to have the browser tests run\n')

describe.skipIf(!present)('in Chromium', () => {
  let browser: Browser
  beforeAll(async () => void (browser = await chromium.launch({ executablePath, args: flags.split(' ') })))
  afterAll(() => browser?.close())

  it('the published file passes the smoke test without console output', async () => {
    const { chunks } = await buildCore()
    const origin = await startSmokeServer(chunks)
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    await page.goto(origin)
    // As text, so that the browser loads the modules.
    const done = await page.evaluate(`
      Promise.all([import('/index.js'), import('/smoke.js')])
        .then(([core, { smoke }]) => smoke(core, location.origin))
    `)
    expect(done).toHaveLength(12)
    expect(errors).toEqual([])
    await page.close()
  })
})
