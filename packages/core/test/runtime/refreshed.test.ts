import { refreshed, type RefreshedOptions } from '@tokenwell/core/adapter'
import { createFakeClock } from '@tokenwell/core/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

interface Value {
  readonly number: number
}

/** A value whose loads a test completes: each returns its number. */
function setUp(options: Partial<RefreshedOptions<Value>> = {}) {
  const clock = createFakeClock()
  const loads: { readonly complete: () => void; readonly fail: (message?: string) => void }[] = []
  const value = refreshed<Value>(
    () =>
      new Promise((resolve, reject) => {
        const number = loads.length + 1
        loads.push({
          complete: () => resolve({ number }),
          fail: (message = `failure ${number}`) => reject(new Error(message)),
        })
      }),
    { maxAgeMs: 1_000, keepMs: 3_000, pauseMs: 200, timeoutMs: 5_000, clock, ...options },
  )
  const load = async (number: number) => {
    const loaded = value.get()
    loads.at(-1)!.complete()
    expect(await loaded).toEqual({ number })
  }
  return { value, clock, loads, load }
}

describe('a refreshed value', () => {
  it('is loaded once for all callers, and used for maxAgeMs from the moment its loading began', async () => {
    const { value, clock, loads } = setUp()
    const calls = [value.get(), value.get()]
    clock.advance(400)
    calls.push(value.get())
    loads[0]!.complete()
    expect(await Promise.all(calls)).toEqual([{ number: 1 }, { number: 1 }, { number: 1 }])
    clock.advance(599)
    expect(value.peek()).toEqual({ number: 1 })
    clock.advance(1)
    expect(value.peek()).toBeUndefined()
    void value.get()
    expect(loads).toHaveLength(2)
  })

  it('ages by the clock that advanced further', async () => {
    const { value, clock, load } = setUp()
    await load(1)
    clock.setWall(-3_600_000)
    clock.advance(999)
    expect(value.peek()).toEqual({ number: 1 })
    clock.advance(1)
    expect(value.peek()).toBeUndefined()
    await load(2)
    clock.setWall(1_000)
    expect(value.peek()).toBeUndefined()
  })

  it('is kept for keepMs while it cannot be loaded, which is tried again after pauseMs', async () => {
    const { value, clock, loads, load } = setUp()
    await load(1)
    clock.advance(3_800)
    const kept = value.get()
    loads[1]!.fail()
    expect(await kept).toEqual({ number: 1 })
    clock.advance(199)
    expect(await value.get()).toEqual({ number: 1 })
    expect(loads).toHaveLength(2)
    clock.advance(1)
    const late = value.get()
    loads[2]!.fail()
    await expect(late).rejects.toThrow('failure 3')
    await expect(value.get()).rejects.toThrow('failure 3')
    expect(loads).toHaveLength(3)
  })

  it('is loaded again at once after a failure without pauseMs', async () => {
    const { value, loads } = setUp({ pauseMs: 0 })
    const failed = value.get()
    loads[0]!.fail()
    await expect(failed).rejects.toThrow('failure 1')
    void value.get()
    expect(loads).toHaveLength(2)
  })

  it('is kept after those errors alone that are named', async () => {
    const { value, clock, loads, load } = setUp({
      pauseMs: 0,
      keepsAfter: (error) => (error as Error).message === 'down',
    })
    await load(1)
    clock.advance(1_000)
    const kept = value.get()
    loads[1]!.fail('down')
    expect(await kept).toEqual({ number: 1 })
    const gone = value.get()
    loads[2]!.fail('gone')
    await expect(gone).rejects.toThrow('gone')
  })

  it('has times that depend on it', async () => {
    const { value, clock, load } = setUp({
      maxAgeMs: ({ number }) => number * 100,
      keepMs: ({ number }) => number,
      pauseMs: 0,
    })
    await load(1)
    clock.advance(100)
    await load(2)
    clock.advance(199)
    expect(value.peek()).toEqual({ number: 2 })
    clock.advance(1)
    expect(value.peek()).toBeUndefined()
  })

  it('is not waited for longer than patienceMs while another one is kept', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { value, clock, loads, load } = setUp({ patienceMs: 50 })
    await load(1)
    clock.advance(1_000)
    const inTime = value.get()
    await vi.advanceTimersByTimeAsync(49)
    loads[1]!.complete()
    expect(await inTime).toEqual({ number: 2 })
    clock.advance(1_000)
    const late = value.get()
    await vi.advanceTimersByTimeAsync(50)
    expect(await late).toEqual({ number: 2 })
    clock.advance(50)
    // What is pending has been waited for long enough.
    expect(await value.get()).toEqual({ number: 2 })
    loads[2]!.fail()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is loaded again while a load is pending for timeoutMs, whose result does not replace a newer one', async () => {
    const { value, clock, loads } = setUp({ timeoutMs: 500 })
    const dropped = value.get()
    clock.advance(499)
    void value.get()
    expect(loads).toHaveLength(1)
    clock.advance(1)
    const second = value.get()
    loads[1]!.complete()
    expect(await second).toEqual({ number: 2 })
    loads[0]!.complete()
    expect(await dropped).toEqual({ number: 1 })
    expect(value.peek()).toEqual({ number: 2 })
  })

  it('is followed by a newer one: the cached one, the one that is being loaded, or another one', async () => {
    const { value, clock, loads, load } = setUp()
    await load(1)
    const first = value.peek()!
    const [one, other] = [value.next(first), value.next(first)]
    loads[1]!.complete()
    expect([await one, await other]).toEqual([{ number: 2 }, { number: 2 }])
    expect(await value.next(first)).toEqual({ number: 2 })
    expect(loads).toHaveLength(2)
    const failing = value.next(value.peek()!)
    loads[2]!.fail()
    await expect(failing).rejects.toThrow('failure 3')
    // The failure of one that nobody needs yet changes nothing for others.
    expect(await value.get()).toEqual({ number: 2 })
    await expect(value.next(value.peek()!)).rejects.toThrow('failure 3')
    clock.advance(200)
    void value.next(value.peek()!)
    expect(loads).toHaveLength(4)
  })

  it('that has expired is kept in case it cannot be loaded again', async () => {
    const { value, loads, load } = setUp({ pauseMs: 0 })
    await load(1)
    value.expire()
    expect(value.peek()).toBeUndefined()
    const kept = value.get()
    loads[1]!.fail()
    expect(await kept).toEqual({ number: 1 })
    await load(3)
    expect(value.peek()).toEqual({ number: 3 })
  })

  it('is loaded by each caller where pending work must not be shared', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
    onTestFinished(() => void vi.unstubAllGlobals())
    const alone = setUp()
    const calls = [alone.value.get(), alone.value.get()]
    for (const { complete } of alone.loads) complete()
    expect(await Promise.all(calls)).toEqual([{ number: 1 }, { number: 2 }])
    const kept: Promise<unknown>[] = []
    const shared = setUp({ waitUntil: (work) => void kept.push(work) })
    shared.value.get().catch(() => {})
    const last = shared.value.get()
    expect([shared.loads.length, kept.length]).toEqual([1, 1])
    shared.loads[0]!.fail()
    await expect(last).rejects.toThrow('failure 1')
    expect(await kept[0]).toBeUndefined()
  })
})
