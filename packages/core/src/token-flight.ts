import type { TokenLife } from './token-life.ts'
import { waitFor } from './wait.ts'

/** One request for a token that any number of callers wait for. */
export class TokenFlight {
  readonly controller = new AbortController()
  readonly number: number
  /** Whether it passes over the store's copy. */
  readonly forced: boolean
  #waiting: number
  result!: Promise<TokenLife>

  /** @param background a renewal behind a token's use goes on with nobody waiting for it */
  constructor(number: number, forced: boolean, background: boolean) {
    this.number = number
    this.forced = forced
    this.#waiting = background ? 1 : 0
  }

  /**
   * Waits for the result, as one of many. A caller whose signal is aborted leaves alone, with its own reason;
   * so does one whose time is up. `deserted` is called when the last has left.
   */
  join(
    signal: AbortSignal | undefined,
    ms: number,
    late: () => Error,
    deserted: () => void,
  ): Promise<TokenLife> {
    this.#waiting++
    return waitFor(this.result, ms, signal, late, () => --this.#waiting || deserted())
  }
}
