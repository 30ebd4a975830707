import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBatcher } from '../../src/storage/sql/batcher.ts'

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

  it('waits for as many calls as the last two batches had, for a limited time', async () => {
    const { batches, call } = controlled({ delayMs: 60_000 })
    vi.spyOn(performance, 'now').mockReturnValue(1_000_000)
    onTestFinished(() => void vi.restoreAllMocks())
    const callMany = (count: number) => Array.from({ length: count }, (_, index) => call(index))
    const finishNext = async (index: number) => {
      await expect.poll(() => batches.length).toBe(index + 1)
      batches[index]?.finish()
      return batches[index]?.items.length
    }
    const turns = async () => {
      for (let turn = 0; turn < 20; turn++) await nextTurn()
    }
    // The first batch has nothing to wait for.
    const all = [...callMany(11)]
    expect(await finishNext(0)).toBe(11)
    // Fewer than 5 do not wait.
    all.push(...callMany(4))
    expect(await finishNext(1)).toBe(4)
    // 5 of 15 wait for more, until there are four fifths.
    all.push(...callMany(5))
    await turns()
    expect(batches).toHaveLength(2)
    all.push(...callMany(7))
    expect(await finishNext(2)).toBe(12)
    await Promise.all(all)
    await turns()
    expect(batches).toHaveLength(3)
  })

  it('waits for more calls no longer than the delay', async () => {
    const { batches, call } = controlled({ delayMs: 1 })
    const first = Array.from({ length: 20 }, (_, index) => call(index))
    await nextTurn()
    batches[0]?.finish()
    await Promise.all(first)
    const few = Array.from({ length: 5 }, (_, index) => call(index))
    await expect.poll(() => batches.length).toBe(2)
    batches[1]?.finish()
    expect(await Promise.all(few)).toHaveLength(5)
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
