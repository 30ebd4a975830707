import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { startTokenService } from '@tokenwell/token-service'
import { createPortalBrowser, password, type PortalBrowser } from '../portal/portal-browser.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { application, requestToken } from '../test-service.ts'

const table = createSoakTable()

const guesses = 1_000
const intervalMs = 20

it('serves the right secret while one address guesses at 50/s, and slows the guesses', async () => {
  const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
  const service = await startTokenService({ storage, applications: [application] })
  const statuses = new Map<number, number>()

  async function times(guess: boolean): Promise<number[]> {
    const pending: Promise<unknown>[] = []
    const durations: number[] = []
    for (let count = 0; count < guesses; count += 1) {
      if (guess) {
        const wrong = { ...application, clientSecret: `wrong-${count}` }
        pending.push(
          requestToken(service.authUrl, wrong).then(({ status }) =>
            statuses.set(status, (statuses.get(status) ?? 0) + 1),
          ),
        )
      }
      const startedAt = performance.now()
      pending.push(
        requestToken(service.authUrl).then(({ status }) => {
          expect(status).toBe(200)
          durations.push(performance.now() - startedAt)
        }),
      )
      await delay(intervalMs)
    }
    await Promise.all(pending)
    return durations.sort((a, b) => a - b)
  }

  await times(false)
  const run = async (what: string, guess: boolean): Promise<number> => {
    const { slow } = await table.measure(what, async () => {
      const sorted = await times(guess)
      const p99Ms = p99(sorted)
      const responses = [...statuses].map(([status, count]) => `, guesses: ${count} × ${status}`)
      const figures = `p99 ${p99Ms.toFixed(1)} ms${guess ? responses.join('') : ''}`
      return { slow: p99Ms, calls: sorted.length, failures: 0, worstMs: sorted.at(-1), figures }
    })
    return slow
  }
  const quiet = await run('requests with the right secret', false)
  const noisy = await run('the same while an address guesses', true)
  expect(noisy).toBeLessThan(3 * quiet)
  // 1,000 guesses take 20 s: at most two windows of a minute.
  expect(statuses.get(401)).toBeLessThanOrEqual(20)
  expect(statuses.get(429)).toBeGreaterThanOrEqual(guesses - 20)
  await service.close()
})

const logIns = 20
const tokenRequests = 200

it('lets an administrator log in while 200 addresses flood the log-in, and serves tokens', async () => {
  const configuration = JSON.stringify({ applications: [application], trustProxy: 'loopback' })
  const cwd = temporaryFolder({ 'config.json': configuration })
  const service = runCommand(
    ['--config', 'config.json', '--port', '0', '--storage', 'sqlite:data.db', '--log-level', 'silent'],
    { cwd },
  )
  const authUrl = await service.authUrl
  const admin = createPortalBrowser(authUrl)
  const link = /First administrator +http\S+?(\/portal\/join\/\S+)/
  await expect.poll(() => service.output(), { timeout: 30_000 }).toMatch(link)
  const [, join = ''] = link.exec(service.output()) ?? []
  await admin.get(join)
  expect((await admin.post(join, { name: 'ada', password })).location).toBe('/portal')
  const logIn = (browser: PortalBrowser, typed: string, address: string) =>
    browser.send('/portal/log-in', {
      method: 'POST',
      body: new URLSearchParams({ csrf_token: browser.csrfToken, name: 'ada', password: typed }),
      headers: { 'x-forwarded-for': address },
    })

  const tokenTimes = async () => {
    const durations: number[] = []
    for (let count = 0; count < tokenRequests; count += 1) {
      const startedAt = performance.now()
      expect((await requestToken(authUrl)).status).toBe(200)
      durations.push(performance.now() - startedAt)
      await delay(10)
    }
    return durations.sort((a, b) => a - b)
  }
  const measure = (what: string) =>
    table.measure(what, async () => {
      const sorted = await tokenTimes()
      const figures = `p99 ${p99(sorted).toFixed(1)} ms`
      return { calls: sorted.length, failures: 0, worstMs: sorted.at(-1), figures }
    })
  await tokenTimes()
  await measure('token requests, nobody logs in')

  const statuses = new Map<number, number>()
  const over = new AbortController()
  const floodedAt = performance.now()
  const flood = Array.from({ length: 200 }, async (_, index) => {
    const browser = createPortalBrowser(authUrl)
    await browser.get('/portal/log-in')
    while (!over.signal.aborted) {
      const { status } = await logIn(browser, 'a wrong password', `192.0.2.${index}`)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  await delay(2_000)
  await measure('token requests while 200 addresses guess a password')
  const { slow: knownMs } = await table.measure('log-ins of a known device meanwhile', async () => {
    let worstMs = 0
    for (let count = 0; count < logIns; count += 1) {
      // The form's token belongs to the session, which each log-in replaces.
      await admin.get('/portal/account')
      const startedAt = performance.now()
      expect((await logIn(admin, password, '198.51.100.1')).status).toBe(303)
      worstMs = Math.max(worstMs, performance.now() - startedAt)
      await delay(500)
    }
    const figures = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
    return { calls: logIns, failures: 0, worstMs, slow: worstMs, figures: `the flood: ${figures}` }
  })
  // Each address has guessed once: from then on, others are checked first.
  await expect.poll(() => statuses.get(422) ?? 0, { timeout: 300_000 }).toBeGreaterThan(200)
  const { slow } = await table.measure('log-ins of new browsers meanwhile', async () => {
    let worstMs = 0
    for (let count = 0; count < logIns; count += 1) {
      const browser = createPortalBrowser(authUrl)
      await browser.get('/portal/log-in')
      const startedAt = performance.now()
      expect((await logIn(browser, password, `203.0.113.${count}`)).status).toBe(303)
      worstMs = Math.max(worstMs, performance.now() - startedAt)
      await delay(500)
    }
    return { calls: logIns, failures: 0, worstMs, slow: worstMs }
  })
  // Under 5 s on two idle cores.
  expect(slow).toBeLessThan(2 * knownMs + 1_000)
  over.abort()
  await Promise.all(flood)
  // Each is rejected after two seconds; at once, it would be ten times as many.
  expect(statuses.get(503)).toBeLessThan(((performance.now() - floodedAt) / 1_000) * 150)
})

function p99(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0
}
