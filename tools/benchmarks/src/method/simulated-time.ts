/**
 * Replaces the clocks and timers of this process by simulated ones, which stand still until `passUntil` lets them
 * pass. Import what reads them afterwards.
 */
export function simulateTime(): { now(): number; passUntil(endMs: number): Promise<void> } {
  const { setImmediate } = globalThis
  const RealDate = Date
  const startedAt = RealDate.now()
  let now = 0
  // By millisecond.
  const due = new Map<number, Timer[]>()

  class SimulatedDate extends RealDate {
    constructor(...values: [] | [number]) {
      super(values.length > 0 ? values[0]! : startedAt + now)
    }
    static override now(): number {
      return startedAt + now
    }
  }
  const start = (callback: () => void, ms = 0): Timer => {
    const timer = { callback, cancelled: false }
    const at = now + Math.max(1, Math.ceil(ms))
    const timers = due.get(at)
    if (timers) timers.push(timer)
    else due.set(at, [timer])
    return timer
  }
  const cancel = (timer: Timer | undefined): void => {
    if (timer) timer.cancelled = true
  }
  performance.now = () => now
  Object.assign(globalThis, { Date: SimulatedDate, setTimeout: start, clearTimeout: cancel })

  return {
    now: () => now,
    async passUntil(endMs) {
      for (; now < endMs; now++) {
        const timers = due.get(now)
        if (timers === undefined) continue
        due.delete(now)
        for (const { callback, cancelled } of timers) if (!cancelled) callback()
        // Everything that follows without time passing happens now.
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

interface Timer {
  readonly callback: () => void
  cancelled: boolean
}

/** Speeds up all clocks by `factor`; timers are not affected. */
export function speedUpTime(factor: number): void {
  const wall = Date.now.bind(Date)
  const monotonic = performance.now.bind(performance)
  const start = { wall: wall(), monotonic: monotonic() }
  const now = (): number => Math.floor(start.wall + (wall() - start.wall) * factor)
  class FastDate extends Date {
    constructor(...args: [] | [number]) {
      super(args.length === 0 ? now() : args[0])
    }
    static override now(): number {
      return now()
    }
  }
  globalThis.Date = FastDate as DateConstructor
  performance.now = () => start.monotonic + (monotonic() - start.monotonic) * factor
}
