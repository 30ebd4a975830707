/** Work that no caller waits for. */
export class BackgroundWork {
  readonly #waitUntil: ((work: Promise<unknown>) => void) | undefined
  #remaining: Promise<unknown> | undefined

  constructor(waitUntil: ((work: Promise<unknown>) => void) | undefined) {
    this.#waitUntil = waitUntil
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
