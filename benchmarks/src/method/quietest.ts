const windowMs = 0.5
const windows = 400
const warmUpMs = 300

/**
 * Nanoseconds a call takes in a quiet moment: the quickest of many windows, each shorter than the time a busy machine
 * leaves a program to itself. What the collector does falls outside of them.
 */
export async function quietest(works: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const calls: number[] = []
  for (const work of works) calls.push(await callsInWindow(work))
  const times = works.map((): number[] => [])
  // In turn, so that what is subtracted later was measured beside it.
  for (let window = 0; window < windows; window++) {
    for (const [index, work] of works.entries()) {
      const start = performance.now()
      for (let call = 0; call < calls[index]!; call++) await work()
      times[index]!.push(((performance.now() - start) * 1e6) / calls[index]!)
    }
  }
  return times.map((each) => Math.min(...each))
}

/** The same of a call that does not wait. */
export function quietestSync(work: () => unknown): number {
  const calls = 2_000
  const times: number[] = []
  let kept: unknown
  for (let window = 0; window < windows; window++) {
    const start = performance.now()
    for (let call = 0; call < calls; call++) kept = work()
    times.push(((performance.now() - start) * 1e6) / calls)
  }
  // Used, so that the calls cannot be left out.
  if (kept === undefined) throw new Error('There was no token')
  return Math.min(...times)
}

/** Warms up, and finds how many calls fill a window. */
async function callsInWindow(work: () => Promise<unknown>): Promise<number> {
  let quickest = Infinity
  const end = performance.now() + warmUpMs
  while (performance.now() < end) {
    const start = performance.now()
    for (let call = 0; call < 20; call++) await work()
    quickest = Math.min(quickest, (performance.now() - start) / 20)
  }
  return Math.max(1, Math.round(windowMs / quickest))
}
