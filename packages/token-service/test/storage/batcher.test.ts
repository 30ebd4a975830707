import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createBatcher } from '../../src/storage/batcher.ts'

/** Batches that a test completes. */
function controlled(options?: Parameters<typeof createBatcher>[1]) {
  const batches: { items: number[]; finish: () => void; fail: (error: Error) => void }[] = []
  const call = createBatcher<number, string>(
    (items) =>
      new Promise((resolve, reject) => {
        batches.push({ items, finish: () => resolve(items.map(String)), fail: reject })
      }),
    options,
  )
  return { batches, call }
}

describe('a batcher', () => {
  it('runs concurrent calls as one batch, and returns each its own result', async () => {
    const { batches, call } = controlled()
    const results = Promise.all([call(1), call(2), call(3)])
    await nextTurn()
    expect(batches.map(({ items }) => items)).toEqual([[1, 2, 3]])
    batches[0]?.finish()
    expect(await results).toEqual(['1', '2', '3'])
  })

  it('collects the next batch while one is running', async () => {
    const { batches, call } = controlled()
    const first = call(1)
    await nextTurn()
    const later = Promise.all([call(2), call(3)])
    await nextTurn()
    expect(batches).toHaveLength(1)
    batches[0]?.finish()
    await first
    await nextTurn()
    await nextTurn()
    expect(batches[1]?.items).toEqual([2, 3])
    batches[1]?.finish()
    expect(await later).toEqual(['2', '3'])
  })

  it('splits large batches, and limits the number of concurrent ones', async () => {
    const { batches, call } = controlled({ maxSize: 2, concurrency: 2 })
    const all = Promise.all([1, 2, 3, 4, 5].map(call))
    await nextTurn()
    await nextTurn()
    await nextTurn()
    expect(batches.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4],
    ])
    batches[1]?.finish()
    await nextTurn()
    await nextTurn()
    expect(batches[2]?.items).toEqual([5])
    batches[0]?.finish()
    batches[2]?.finish()
    expect(await all).toEqual(['1', '2', '3', '4', '5'])
  })

  it('fails the calls of one batch together, and continues with the next batch', async () => {
    const { batches, call } = controlled()
    const failing = Promise.allSettled([call(1), call(2)])
    await nextTurn()
    batches[0]?.fail(new Error('gone'))
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const next = call(3)
    await nextTurn()
    batches[1]?.finish()
    expect(await next).toBe('3')
  })
})
