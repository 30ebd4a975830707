// Bundles a program with each bundler for Node and for a page, and runs it there.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { bundlers } from './bundlers.js'

const path = (name) => fileURLToPath(new URL(name, import.meta.url))
const expected = { orders: ['tea', 'cups', 'tea', 'cups', 'tea', 'cups'], oneCopy: true }
const journal = `${process.env.SANDBOX_URL}/journal`

rmSync(path('app'), { recursive: true, force: true })
mkdirSync(path('app'))
writeFileSync(path('app/package.json'), '{ "type": "commonjs" }')
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})
const failures = []
for (const [name, bundle] of Object.entries(bundlers)) {
  await attempt(`${name} for Node`, async () => {
    const file = path(`app/${name}-node/node.js`)
    await bundle({ entry: path('node.js'), file, platform: 'node' })
    return (await promisify(execFile)(process.execPath, [file], { cwd: path('.') })).stdout
  })
  await attempt(`${name} for a page`, async () => {
    const file = path(`app/${name}-browser/page.js`)
    await bundle({ entry: path('page.js'), file, platform: 'browser' })
    const page = await browser.newPage()
    await page.addScriptTag({ path: file, type: 'module' })
    // A module runs later than its tag is added.
    await page.waitForFunction(() => 'program' in globalThis)
    const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env
    const result = await page.evaluate((environment) => globalThis.program(environment), {
      AUTH_URL,
      API_URL,
      CLIENT_ID,
      CLIENT_SECRET,
    })
    await page.close()
    return result
  })
}
await browser.close()
for (const failure of failures) console.error(failure)
if (failures.length > 0) process.exitCode = 1

async function attempt(what, run) {
  try {
    await fetch(journal, { method: 'DELETE' })
    assert.deepEqual(JSON.parse(await run()), expected)
    const { counts } = await (await fetch(journal)).json()
    assert.equal(counts.client[process.env.CLIENT_ID], 1, 'token requests')
  } catch (error) {
    failures.push(new Error(`${what}: ${error.message}`, { cause: error }))
  }
}
