import { expect, it } from 'vitest'
import { changeRepeatedly } from '../../src/clients/change-repeatedly.ts'

it('repeats a change that a concurrent one prevented, but not forever', async () => {
  let calls = 0
  await changeRepeatedly(async () => (calls += 1) === 5)
  expect(calls).toBe(5)
  const never = changeRepeatedly(async () => (calls += 1) === 100)
  await expect(never).rejects.toThrow(/too many concurrent changes\. Try again\.$/)
  expect(calls).toBe(10)
})
