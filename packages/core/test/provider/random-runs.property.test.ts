import { expect, it } from 'vitest'
import { playLifetimes } from './random-lifetimes.ts'
import { playPool } from './random-pool.ts'

it('no token is used after its lifetime, and none is lost, whatever 500 responses say', async () => {
  let responses = 0
  for (let seed = 1; responses < 500; seed++) responses += await playLifetimes(seed, 100)
  expect(responses).toBeGreaterThanOrEqual(500)
})

it('a pool of 100 entries fails no call for 1,000 keys, with rejections, deletes and asynchronous creates', async () => {
  expect(await playPool(1_000)).toMatchObject({ calls: 1_000, failures: 0 })
})
