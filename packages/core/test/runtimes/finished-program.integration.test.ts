import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const core = new URL('../../src/index.ts', import.meta.url).href

/** Runs a program whose token endpoint responds once, and then never again. */
async function run(
  timeoutMs: number,
  end = '',
): Promise<{ readonly attempts: number; readonly livedMs: number }> {
  const program = `
    import { clientCredentials } from '${core}'
    let attempts = 0
    let aheadMs = 0
    const fetch = (url, { signal }) =>
      attempts++ === 0
        ? Promise.resolve(Response.json({ access_token: 't', token_type: 'Bearer', expires_in: 600 }))
        : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const clock = { now: () => Date.now() + aheadMs, monotonic: () => performance.now() + aheadMs }
    const client = { tokenEndpoint: 'https://login.example.com/token', clientId: 'id', clientSecret: 's', fetch }
    const tokens = clientCredentials({ ...client, clock, timeoutMs: ${timeoutMs} })
    await tokens.getToken()
    aheadMs = 500_000
    await tokens.getToken() // starts the refresh, and returns the cached token
    const since = performance.now()
    process.on('exit', () => console.log(JSON.stringify({ attempts, livedMs: performance.now() - since })))
    ${end}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  return JSON.parse(stdout) as { attempts: number; livedMs: number }
}

it('a refresh in the background does not keep a finished program alive', async () => {
  const { attempts, livedMs } = await run(30_000)
  expect(attempts).toBe(2)
  // The request would take 10 s, and its repetitions 30 s.
  expect(livedMs).toBeLessThan(9_000)
})

it('a call that waits for a token keeps the program alive', async () => {
  const { livedMs } = await run(400, 'await tokens.getToken({ forceRefresh: true }).catch(() => {})')
  expect(livedMs).toBeGreaterThanOrEqual(400)
})
