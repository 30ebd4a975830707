import { expect, it } from 'vitest'
import { createMemoryFailures } from '../../src/storage/memory/memory-failures.ts'

it('counts failures of 10,000 clients, and forgets the oldest ones', async () => {
  const failures = createMemoryFailures()
  for (let client = 0; client < 10_000; client += 1) await failures.add(`client ${client}`, 0, 1_000)
  expect((await failures.find('client 0', 1))?.count).toBe(1)
  await failures.add('one more', 0, 1_000)
  expect(await failures.find('client 0', 1)).toBeUndefined()
  expect((await failures.find('client 1', 1))?.count).toBe(1)
})
