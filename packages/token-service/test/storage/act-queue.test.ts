import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ActQueueOptions, createActQueue } from '../../src/storage/act-queue.ts'
import type { Actor } from '../../src/storage/audit-storage.ts'
import { Overloaded } from '../../src/storage/storage-failure.ts'

const person = (actorId: string): Actor => ({ actorType: 'person', actor: `name of ${actorId}`, actorId })

/** Acts that a test ends, and the names of those that have begun. */
function controlled(options?: ActQueueOptions) {
  const queue = createActQueue(options)
  const begun: string[] = []
  const ends: (() => void)[] = []
  return {
    begun,
    act: (by: Actor, name: string) =>
      queue(by, () => {
        begun.push(name)
        return new Promise<string>((resolve) => ends.push(() => resolve(name)))
      }),
    end: async () => {
      await vi.waitUntil(() => ends.length > 0)
      ends.shift()?.()
      await nextTurn()
      await nextTurn()
    },
  }
}

describe('the queue of acts', () => {
  afterEach(() => vi.useRealTimers())

  it('runs one act at a time', async () => {
    const { act, begun, end } = controlled()
    const results = Promise.all([act(person('a'), 'first'), act(person('b'), 'second')])
    await nextTurn()
    await nextTurn()
    expect(begun).toEqual(['first'])
    await end()
    expect(begun).toEqual(['first', 'second'])
    await end()
    expect(await results).toEqual(['first', 'second'])
  })

  it('lets people take turns, however many acts one of them sends', async () => {
    const { act, begun, end } = controlled()
    const acts = ['a1', 'a2', 'a3', 'a4'].map((name) => act(person('a'), name))
    acts.push(act(person('b'), 'b1'), act({ actorType: 'api', actor: 'name of a' }, 'api1'))
    for (const _ of acts) await end()
    await Promise.all(acts)
    expect(begun).toEqual(['a1', 'b1', 'api1', 'a2', 'a3', 'a4'])
  })

  it('rejects what one person sends beyond the limit, and nothing of others', async () => {
    const { act, end } = controlled({ maxWaiting: 2 })
    const running = act(person('a'), 'running')
    await nextTurn()
    const waiting = [act(person('a'), 'a1'), act(person('a'), 'a2'), act(person('b'), 'b1')]
    await expect(act(person('a'), 'a3')).rejects.toThrow(Overloaded)
    for (let ended = 0; ended < 4; ended += 1) await end()
    expect(await Promise.all([running, ...waiting])).toHaveLength(4)
  })

  it('rejects an act that has waited too long, and runs the next one', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { act, begun, end } = controlled({ maxWaitMs: 1_000 })
    const first = act(person('a'), 'first')
    await vi.waitUntil(() => begun.length === 1)
    const late = act(person('a'), 'late')
    late.catch(() => {})
    vi.advanceTimersByTime(999)
    const next = act(person('b'), 'next')
    vi.advanceTimersByTime(2)
    await end()
    await end()
    await expect(late).rejects.toThrow('The service is overloaded. Try again in a second.')
    expect(await Promise.all([first, next])).toEqual(['first', 'next'])
    expect(begun).toEqual(['first', 'next'])
  })

  it('goes on after an act that fails', async () => {
    const queue = createActQueue()
    await expect(queue(person('a'), () => Promise.reject(new Error('not possible')))).rejects.toThrow(
      'not possible',
    )
    expect(await queue(person('a'), async () => 'possible')).toBe('possible')
  })

  it('begins the next act after what has arrived meanwhile', async () => {
    const queue = createActQueue()
    const order: string[] = []
    const first = queue(person('a'), async () => {
      setImmediate(() => order.push('request'))
      return order.push('first')
    })
    await Promise.all([first, queue(person('a'), async () => order.push('second'))])
    expect(order).toEqual(['first', 'request', 'second'])
  })
})
