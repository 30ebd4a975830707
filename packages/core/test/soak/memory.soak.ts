import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenPool,
  createTokenProvider,
  type TokenSource,
} from '@tokenwell/core'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

let issued = 0
const source: TokenSource = {
  cacheKey: () => Promise.resolve('key'),
  requestToken: () =>
    Promise.resolve({ accessToken: `token-${++issued}`, tokenType: 'Bearer', expiresIn: 3_600, scope: [] }),
}

/** Takes turns in many jobs, as programs do: what a WeakRef points to, such as an abort signal, lives until a job ends. */
async function take(turns: number, turn: () => unknown): Promise<void> {
  for (let count = 0; count < turns; count++) {
    await turn()
    if (count % 100 === 0) await setImmediate()
  }
}

async function heapBytes(): Promise<number> {
  await setImmediate()
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Bytes by which the heap grows in a hundred thousand turns, after fifty thousand warm-up turns. */
async function growth(turn: () => unknown): Promise<number> {
  await take(50_000, turn)
  const before = await heapBytes()
  await take(100_000, turn)
  return (await heapBytes()) - before
}

describe('memory does not grow over 100,000 calls:', () => {
  const store = createMemoryTokenStore()
  const [plain, shared] = [createTokenProvider(source), createTokenProvider(source, { store })]
  const pool = createTokenPool((_key: number) => createTokenProvider(source), { maxEntries: 10 })
  const { signal } = new AbortController()
  let key = 0
  it.each<[string, () => unknown]>([
    ['warm calls', () => plain.getToken()],
    ['calls for a cached token with a long-lived signal', () => plain.getToken({ signal })],
    ['refreshes', () => plain.getToken({ forceRefresh: true, signal })],
    ['refreshes through a store', () => shared.getToken({ forceRefresh: true, signal })],
    ['rejections', async () => plain.reject(await plain.getToken())],
    ['aborted calls', () => plain.getToken({ signal: AbortSignal.abort() }).catch(() => {})],
    ['listeners', () => plain.subscribe(() => {})()],
    ['tenants of a pool', () => pool.for(key++).getToken()],
  ])('%s', async (name, turn) => {
    await table.measure(name, async () => {
      const bytes = await growth(turn)
      // A few bytes per turn come from the heap itself.
      expect(bytes).toBeLessThan(2_000_000)
      return { calls: 100_000, failures: 0, figures: `${(bytes / 100_000).toFixed(1)} bytes per turn` }
    })
  })
})
