const windowMs = 0.5
const windows = 400
const warmUpMs = 500

/**
 * Nanoseconds per call, and for reading its result, in a quiet moment: the fastest of many windows, each shorter than a scheduler's time slice.
 * Garbage collection falls outside of them.
 */
export async function fastestWindow<Value>(
  tasks: readonly (() => Promise<Value>)[],
  read: (value: Value) => unknown = (value) => value,
): Promise<number[]> {
  const calls: number[] = []
  for (const work of tasks) calls.push(await callsInWindow(work))
  const times = tasks.map((): number[] => [])
  // In turn, so that figures that are subtracted from each other are measured side by side.
  for (let window = 0; window < windows; window++) {
    for (const [index, work] of tasks.entries()) {
      const start = performance.now()
      for (let call = 0; call < calls[index]!; call++) read(await work())
      times[index]!.push(((performance.now() - start) * 1e6) / calls[index]!)
    }
  }
  return times.map((each) => Math.min(...each))
}

/** The same for a synchronous call. */
export function fastestWindowSync(work: () => unknown): number {
  const calls = 2_000
  const times: number[] = []
  let kept: unknown
  for (let window = 0; window < windows; window++) {
    const start = performance.now()
    for (let call = 0; call < calls; call++) kept = work()
    times.push(((performance.now() - start) * 1e6) / calls)
  }
  // Used, so that the compiler does not remove the calls.
  if (kept === undefined) throw new Error('There was no token')
  return Math.min(...times)
}

/** Warms up, for a processor time because the compiler shares a busy machine, and finds how many calls fill a window. */
async function callsInWindow(work: () => Promise<unknown>): Promise<number> {
  let fastest = Infinity
  const before = process.cpuUsage()
  while (process.cpuUsage(before).user < warmUpMs * 1_000) {
    const start = performance.now()
    for (let call = 0; call < 20; call++) await work()
    fastest = Math.min(fastest, (performance.now() - start) / 20)
  }
  return Math.max(1, Math.round(windowMs / fastest))
}
