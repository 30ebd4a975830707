import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Actor } from './audit-storage.ts'
import { Overloaded } from './storage-failure.ts'

export interface ActQueueOptions {
  /** How many acts of one person may wait. @default 30 */
  readonly maxWaiting?: number | undefined
  /** How long an act may wait. @default 5_000 */
  readonly maxWaitMs?: number | undefined
}

/** Runs acts one after another, and rejects with {@link Overloaded} those that it cannot run in time. */
export type ActQueue = <Result>(by: Actor, work: () => Promise<Result>) => Promise<Result>

interface WaitingAct {
  readonly sinceMs: number
  readonly run: () => Promise<unknown>
  readonly reject: (error: Overloaded) => void
}

/**
 * Acts change the database one at a time, so that waiting ones need no connection: an instance has at most one transaction of an act.
 * People take turns; who sends more than others waits longer than they do. The other requests that have arrived come before the next act.
 */
export function createActQueue({ maxWaiting = 30, maxWaitMs = 5_000 }: ActQueueOptions = {}): ActQueue {
  const waiting = new Map<string, WaitingAct[]>()
  let running = false

  /** The next act, of the person whose turn it is. */
  function takeNext(): WaitingAct | undefined {
    const [turn] = waiting
    if (!turn) return undefined
    const [person, [act, ...others]] = turn
    waiting.delete(person)
    if (others.length > 0) waiting.set(person, others)
    return act
  }

  async function runAll(): Promise<void> {
    if (running) return
    running = true
    await nextTurn()
    for (let act = takeNext(); act; act = takeNext()) {
      if (performance.now() - act.sinceMs > maxWaitMs) act.reject(new Overloaded())
      else await act.run()
      await nextTurn()
    }
    running = false
  }

  return (by, work) =>
    new Promise((resolve, reject) => {
      const person = JSON.stringify([by.actorType, by.actorId ?? by.actor])
      const acts = waiting.get(person) ?? []
      if (acts.length >= maxWaiting) return reject(new Overloaded())
      const run = () => work().then(resolve, reject)
      acts.push({ sinceMs: performance.now(), run, reject })
      waiting.set(person, acts)
      void runAll()
    })
}
