export interface BatcherOptions {
  /** @default 500 */
  readonly maxSize?: number | undefined
  /** Maximum number of concurrent batches. @default 1 */
  readonly concurrency?: number | undefined
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines concurrent calls: while a batch is running, the next one collects calls. Under load, a whole batch shares
 * one statement and one commit; a single call does not wait.
 */
export function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<readonly Result[]>,
  { maxSize = 500, concurrency = 1 }: BatcherOptions = {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let running = 0
  let scheduled = false

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
      const results = await run(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      running -= 1
      schedule()
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      schedule()
    })
}
