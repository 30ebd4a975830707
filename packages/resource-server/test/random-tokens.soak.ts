import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createVerifierUnderTest } from './verifier-under-test.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

it('100,000 random tokens do not grow memory beyond the bound, nor stop valid ones', async () => {
  const underTest = createVerifierUnderTest({}, { onEvent: () => {} })
  const valid = Array.from({ length: 100 }, (_, index) => `good-${index}`)
  const flood = async (tokens: number): Promise<number> => {
    for (let sent = 0; sent < tokens; sent += 500) {
      const random = Array.from({ length: 500 }, () => randomBytes(32).toString('base64url'))
      const statuses = await Promise.all([...random, ...valid].map(underTest.statusOf))
      expect(statuses.slice(500).every((status) => status === 200)).toBe(true)
      underTest.introspected.length = 0
      underTest.clock.advance(50)
    }
    collect()
    return process.memoryUsage().heapUsed
  }
  // As many as are kept.
  const full = await flood(20_000)
  const after = await flood(100_000)
  expect(after - full).toBeLessThan(1_000_000)
}, 120_000)
