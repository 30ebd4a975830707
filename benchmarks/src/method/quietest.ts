const windowMs = 10
const windows = 16

/**
 * Nanoseconds a call takes: the quietest of several windows. Other programs make a window longer, never shorter; what the
 * collector does about the calls' own garbage happens in every window.
 */
export async function quietest(works: readonly (() => Promise<unknown>)[], calls = 200): Promise<number[]> {
  const best = works.map(() => Infinity)
  for (const work of works) await callFor(work, calls, 10 * windowMs)
  // In turn, so that what is subtracted later was measured beside it.
  for (let window = 0; window < windows; window++) {
    for (const [index, work] of works.entries()) {
      best[index] = Math.min(best[index]!, await callFor(work, calls, windowMs))
    }
  }
  return best
}

/** The same of a call that does not wait. */
export function quietestSync(work: () => unknown, calls = 10_000): number {
  let best = Infinity
  let kept: unknown
  for (let window = 0; window < 20 * windows; window++) {
    const start = cpuMs()
    for (let call = 0; call < calls; call++) kept = work()
    best = Math.min(best, ((cpuMs() - start) * 1e6) / calls)
  }
  // Used, so that the calls cannot be left out.
  if (kept === undefined) throw new Error('There was no token')
  return best
}

async function callFor(work: () => Promise<unknown>, calls: number, ms: number): Promise<number> {
  const start = cpuMs()
  let done = 0
  let elapsed = 0
  do {
    for (let call = 0; call < calls; call++) await work()
    done += calls
    elapsed = cpuMs() - start
  } while (elapsed < ms)
  return (elapsed * 1e6) / done
}

/** This thread's own time: on a busy machine the clock on the wall counts the others' as well. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
