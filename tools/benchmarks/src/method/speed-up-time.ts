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
