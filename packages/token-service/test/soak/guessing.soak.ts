import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { startTokenService } from '@tokenwell/token-service'
import { temporaryFolder } from '../service-process.ts'
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

function p99(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0
}
