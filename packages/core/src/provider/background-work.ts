import { dropsBackgroundWork } from '../runtime/environment.ts'

/** In such a runtime, a request of another incoming request may never settle: callers wait for it this long. */
const foreignRequestMs = 1_000

/** Work that no caller waits for, which some runtimes drop when the incoming request that started it ends. */
export class BackgroundWork {
  readonly #waitUntil: ((work: Promise<unknown>) => void) | undefined
  #remaining: Promise<unknown> | undefined

  constructor(waitUntil: ((work: Promise<unknown>) => void) | undefined) {
    this.#waitUntil = waitUntil
  }

  /** Whether the runtime would drop it. */
  get isDropped(): boolean {
    return this.#waitUntil === undefined && dropsBackgroundWork()
  }

  /** How long callers wait for a request that another call has started, in milliseconds. */
  get patienceMs(): number {
    return this.isDropped ? foreignRequestMs : Number.POSITIVE_INFINITY
  }

  /** Runs work that {@link settled} waits for. */
  add(work: () => Promise<unknown>): void {
    this.#remaining = Promise.all([this.#remaining, work().catch(() => {})]).then(() => {})
    this.keepAlive(this.#remaining)
  }

  /** Keeps the runtime from dropping a promise when the incoming request ends. */
  keepAlive(work: Promise<unknown>): void {
    try {
      this.#waitUntil?.(work)
    } catch {
      // Called outside a request: nothing has to be kept alive.
    }
  }

  async settled(): Promise<void> {
    await this.#remaining
  }
}
