import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBatcher, type BatcherOptions } from '../../src/storage/batcher.ts'
import { isOfValue, Overloaded, StorageFailure } from '../../src/storage/storage-failure.ts'

const rejectedValue = () => new StorageFailure(Object.assign(new Error('out of range'), { code: '22003' }))

/** Batches that a test completes. */
function controlled(options?: BatcherOptions<number>) {
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

  it('tries the items of a batch alone if one value was rejected, and fails that call only', async () => {
    const { batches, call } = controlled()
    const calls = Promise.allSettled([call(1), call(2), call(3)])
    await nextTurn()
    batches[0]?.fail(rejectedValue())
    for (const [index, item] of [1, 2, 3].entries()) {
      await vi.waitFor(() => expect(batches[index + 1]?.items).toEqual([item]))
      if (item === 2) batches[index + 1]?.fail(rejectedValue())
      else batches[index + 1]?.finish()
    }
    expect((await calls).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(batches).toHaveLength(4)
  })

  it('does not try the items alone while the database is down', async () => {
    const { batches, call } = controlled()
    const calls = Promise.allSettled([call(1), call(2)])
    await nextTurn()
    batches[0]?.fail(new StorageFailure(Object.assign(new Error('connection lost'), { code: '57P01' })))
    expect((await calls).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(batches).toHaveLength(1)
  })

  it('keeps the items of an owner apart for a minute after one has failed', async () => {
    const time = { now: 0 }
    const ownerOf = (item: number) => (item < 10 ? 'honest' : 'poisoned')
    const { batches, call } = controlled({ ownerOf, now: () => time.now })
    const failed = call(10).catch(() => 'rejected')
    await nextTurn()
    batches[0]?.fail(rejectedValue())
    expect(await failed).toBe('rejected')
    async function batchesOf(items: readonly number[]) {
      const before = batches.length
      const results = Promise.all(items.map(call))
      await nextTurn()
      const now = batches.slice(before)
      for (const { finish } of now) finish()
      expect(await results).toEqual(items.map(String))
      return now.map((batch) => batch.items)
    }
    expect(await batchesOf([1, 11, 2, 12])).toEqual([
      [1, 2],
      [11, 12],
    ])
    time.now = 60_000
    expect(await batchesOf([1, 11, 2, 12])).toEqual([[1, 11, 2, 12]])
  })

  it('rejects at once what cannot be done in time: while many wait, and the oldest has waited too long', async () => {
    const time = { now: 0 }
    const { batches, call } = controlled({ shedAfterMs: 300, now: () => time.now })
    const running = call(0)
    await nextTurn()
    const waiting = Array.from({ length: 99 }, (_, item) => call(item))
    time.now = 301
    // So few are done at once.
    waiting.push(call(99))
    await expect(call(100)).rejects.toThrow(Overloaded)
    time.now = 300
    waiting.push(call(101))
    batches[0]?.finish()
    await running
    await vi.waitFor(() => expect(batches[1]?.items).toHaveLength(101))
    time.now = 900
    const next = call(102)
    batches[1]?.finish()
    await Promise.all(waiting)
    await vi.waitFor(() => expect(batches[2]?.items).toEqual([102]))
    batches[2]?.finish()
    expect(await next).toBe('102')
  })

  it('keeps no more than 5,000 items', async () => {
    const { call } = controlled({ now: () => 0 })
    const calls = Array.from({ length: 5_001 }, (_, item) => call(item))
    for (const each of calls) each.catch(() => {})
    await expect(calls.at(-1)).rejects.toThrow(Overloaded)
  })

  it('gives up after two seconds what the storage does not respond to, and what waits for it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { batches, call } = controlled()
    const [running, ofBatch] = [call(1), call(2)]
    await nextTurn()
    vi.advanceTimersByTime(400)
    const waiting = call(3)
    vi.advanceTimersByTime(1_599)
    const late = call(4)
    const settled = vi.fn()
    for (const each of [running, ofBatch, waiting, late]) each.then(settled, settled)
    await nextTurn()
    expect(settled).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    for (const each of [running, ofBatch])
      await expect(each).rejects.toThrow('The storage failed: it did not respond in time')
    vi.advanceTimersByTime(500)
    await expect(waiting).rejects.toThrow(Overloaded)
    batches[0]?.finish()
    await vi.waitFor(() => expect(batches[1]?.items).toEqual([4]))
    batches[1]?.finish()
    expect(await late).toBe('4')
  })
})

describe('a failure of the storage', () => {
  it.each([
    ['a text with NUL in PostgreSQL', { code: '22021' }, true],
    ['a number out of range in PostgreSQL', { code: '22003' }, true],
    ['a row that is too large for an index', { code: '54000' }, true],
    ['a constraint of SQLite', { code: 'ERR_SQLITE_ERROR', errcode: 1555 }, true],
    ['a number that Node cannot read', { code: 'ERR_OUT_OF_RANGE' }, true],
    ['a full disk', { code: 'ERR_SQLITE_ERROR', errcode: 13 }, false],
    ['a server that ends', { code: '57P01' }, false],
    ['a connection that is refused', { code: 'ECONNREFUSED' }, false],
  ])('because of %s', (_about, error, isBecauseOfValue) => {
    expect(isOfValue(new StorageFailure(Object.assign(new Error('failed'), error)))).toBe(isBecauseOfValue)
  })

  it('is one of a value if a row cannot be read', () => {
    expect(isOfValue(new SyntaxError('Unexpected token'))).toBe(true)
    expect(isOfValue(new Error('gone'))).toBe(false)
  })
})
