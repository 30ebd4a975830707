import { isOfValue } from './storage-failure.ts'

export interface BatcherOptions<Item> {
  /** @default 500 */
  readonly maxSize?: number | undefined
  /** Maximum number of concurrent batches. @default 1 */
  readonly concurrency?: number | undefined
  /** Whose item it is: items of one whose item failed no longer share batches with those of others. */
  readonly ownerOf?: ((item: Item) => string) | undefined
  /** A monotonic clock. @default performance.now */
  readonly now?: (() => number) | undefined
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** For how long the items of an owner stay apart after one of them has failed. */
const apartMs = 60_000
const maxApart = 1_000

/**
 * Combines concurrent calls: while a batch is running, the next one collects calls. Under load, a whole batch shares
 * one statement and one commit; a single call does not wait. If the database rejects a batch because of a value, each of
 * its items is tried once more alone: one value fails its own call only.
 */
export function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<readonly Result[]>,
  { maxSize = 500, concurrency = 1, ownerOf, now = () => performance.now() }: BatcherOptions<Item> = {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let running = 0
  let scheduled = false
  const apart = new Map<string, { readonly call: (item: Item) => Promise<Result>; untilMs: number }>()

  function schedule(): void {
    if (scheduled || running >= concurrency || waiting.length === 0) return
    scheduled = true
    // Not at once: the requests that arrived together are read in the same turn of the event loop.
    setImmediate(() => void flush())
  }

  async function flush(): Promise<void> {
    scheduled = false
    const batch = waiting.slice(0, maxSize)
    waiting = waiting.slice(maxSize)
    running += 1
    schedule()
    try {
      await settle(batch)
    } finally {
      running -= 1
      schedule()
    }
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
    const call = apart.get(owner)?.call ?? createBatcher(run, { maxSize, now })
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
      waiting.push({ item, resolve, reject })
      schedule()
    })
}
