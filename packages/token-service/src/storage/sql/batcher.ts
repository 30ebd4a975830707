export interface BatcherOptions {
  /** @default 500 */
  readonly maxSize?: number | undefined
  /** Maximum number of concurrent batches. @default 1 */
  readonly concurrency?: number | undefined
  /**
   * For a `run` that blocks the event loop, so that no calls are collected meanwhile: how long a batch waits for more
   * calls if it has fewer than the last two batches together. @default 0
   */
  readonly delayMs?: number | undefined
}

// For fewer calls, the delay would cost more than another batch.
const leastDelayed = 5

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
  { maxSize = 500, concurrency = 1, delayMs = 0 }: BatcherOptions = {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let running = 0
  let scheduled = false
  let lastSizes: readonly [number, number] = [0, 0]

  function schedule(): void {
    if (scheduled || running >= concurrency || waiting.length === 0) return
    scheduled = true
    const startedAt = performance.now()
    const nextTurn = () => {
      if (isIncomplete() && performance.now() - startedAt < delayMs) return void setImmediate(nextTurn)
      scheduled = false
      void flush()
    }
    // Not at once: the requests that arrived together are read in the same turn of the event loop.
    setImmediate(nextTurn)
  }

  /** Whether the clients that the last two batches responded to are likely to call again soon. */
  function isIncomplete(): boolean {
    const size = waiting.length
    return size >= leastDelayed && size < 0.8 * (lastSizes[0] + lastSizes[1])
  }

  async function flush(): Promise<void> {
    const batch = waiting.slice(0, maxSize)
    waiting = waiting.slice(maxSize)
    lastSizes = [lastSizes[1], batch.length]
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
