import type { TokenLife } from './token-life.ts'

/** One request for a token that any number of callers wait for. */
export class TokenFlight {
  readonly #controller = new AbortController()
  readonly #onDeserted: (flight: TokenFlight) => void
  readonly number: number
  /** Whether it passes over the store's copy. */
  readonly forced: boolean
  #waiting: number
  result!: Promise<TokenLife>

  constructor(
    plan: { readonly number: number; readonly forced: boolean; readonly background: boolean },
    onDeserted: (flight: TokenFlight) => void,
  ) {
    this.number = plan.number
    this.forced = plan.forced
    // A renewal behind a token's use goes on with nobody waiting for it.
    this.#waiting = plan.background ? 1 : 0
    this.#onDeserted = onDeserted
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /**
   * Waits for the result, as one of many. A caller whose signal is aborted leaves alone, with its own reason;
   * so does one whose time is up. The last to leave cancels the flight.
   */
  join(signal: AbortSignal | undefined, ms: number, late: () => Error): Promise<TokenLife> {
    this.#waiting++
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      const leave = (reason: Error): void => {
        done()
        reject(reason)
        if (--this.#waiting === 0) this.#onDeserted(this)
      }
      const onAbort = (): void => leave(signal!.reason as Error)
      const timer = setTimeout(() => leave(late()), ms)
      signal?.addEventListener('abort', onAbort)
      this.result.then(resolve, reject).finally(done)
    })
  }

  cancel(reason: Error): void {
    this.#controller.abort(reason)
  }
}
