import { isOfValue, Overloaded, StorageFailure } from './storage-failure.ts'

export interface BatcherOptions<Item> {
  /** @default 500 */
  readonly maxSize?: number | undefined
  /** Maximum number of concurrent batches. @default 1 */
  readonly concurrency?: number | undefined
  /** Whose item it is: items of one whose item failed no longer share batches with those of others. */
  readonly ownerOf?: ((item: Item) => string) | undefined
  /**
   * While the oldest of many waiting items is older, further ones are rejected at once. What is given up first has the smallest value.
   * @default 2_000
   */
  readonly shedAfterMs?: number | undefined
  /** A monotonic clock. @default performance.now */
  readonly now?: (() => number) | undefined
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly sinceMs: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** What is not done by then is given up: its client gets a response, and sends another request. */
const patienceMs = 2_000
/** So few are done at once, however long something else has kept the process busy. */
const fewItems = 100
const mostItems = 5_000

/** For how long the items of an owner stay apart after one of them has failed. */
const apartMs = 60_000
const maxApart = 1_000

/**
 * Combines concurrent calls: while a batch is running, the next one collects calls. Under load, a whole batch shares
 * one statement and one commit; a single call does not wait. If the database rejects a batch because of a value, each of
 * its items is tried once more alone: one value fails its own call only. What cannot be done in time is rejected.
 */
export function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<readonly Result[]>,
  {
    maxSize = 500,
    concurrency = 1,
    ownerOf,
    shedAfterMs = patienceMs,
    now = () => performance.now(),
  }: BatcherOptions<Item> = {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  const running = new Set<readonly Waiting<Item, Result>[]>()
  let scheduled = false
  let timer: NodeJS.Timeout | undefined
  const apart = new Map<string, { readonly call: (item: Item) => Promise<Result>; untilMs: number }>()

  function schedule(): void {
    if (scheduled || running.size >= concurrency || waiting.length === 0) return
    scheduled = true
    // Not at once: the requests that arrived together are read in the same turn of the event loop.
    setImmediate(() => void flush())
  }

  async function flush(): Promise<void> {
    scheduled = false
    const batch = waiting.slice(0, maxSize)
    waiting = waiting.slice(maxSize)
    running.add(batch)
    timer ??= setTimeout(giveUp, patienceMs).unref()
    schedule()
    try {
      await settle(batch)
    } finally {
      running.delete(batch)
      schedule()
    }
  }

  /** Rejects what is too old, while the storage does not respond. */
  function giveUp(): void {
    const isLate = ({ sinceMs }: { readonly sinceMs: number }) => now() - sinceMs >= patienceMs
    for (const { reject } of [...running].flat().filter(isLate))
      reject(new StorageFailure(new Error('it did not respond in time')))
    for (const { reject } of waiting.filter(isLate)) reject(new Overloaded())
    waiting = waiting.filter((each) => !isLate(each))
    timer = running.size > 0 ? setTimeout(giveUp, patienceMs / 4).unref() : undefined
  }

  function isOverloaded(): boolean {
    if (waiting.length < fewItems) return false
    return waiting.length >= mostItems || now() - waiting[0]!.sinceMs > shedAfterMs
  }

  async function settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
    } catch (error) {
      if (batch.length > 1 && isOfValue(error)) {
        for (const each of batch) await settle([each])
        return
      }
      for (const { item, reject } of batch) {
        if (isOfValue(error)) setApart(item)
        reject(error)
      }
    }
  }

  function setApart(item: Item): void {
    const owner = ownerOf?.(item)
    if (owner === undefined) return
    const call = apart.get(owner)?.call ?? createBatcher(run, { maxSize, shedAfterMs, now })
    apart.delete(owner)
    apart.set(owner, { call, untilMs: now() + apartMs })
    const [oldest] = apart.keys()
    if (apart.size > maxApart) apart.delete(oldest!)
  }

  /** The batches that its owner has alone, if there are any now. */
  function batchesApart(item: Item): ((item: Item) => Promise<Result>) | undefined {
    if (apart.size === 0 || !ownerOf) return undefined
    const owner = ownerOf(item)
    const found = apart.get(owner)
    if (!found || found.untilMs > now()) return found?.call
    apart.delete(owner)
    return undefined
  }

  return (item) =>
    batchesApart(item)?.(item) ??
    new Promise((resolve, reject) => {
      if (isOverloaded()) return reject(new Overloaded())
      waiting.push({ item, sinceMs: now(), resolve, reject })
      schedule()
    })
}
