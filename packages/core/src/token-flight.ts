import type { TokenRequestReason } from './token-event.ts'
import type { TokenLife } from './token-life.ts'
import { waitFor } from './wait.ts'

/** Why a flight begins, and how. */
export interface FlightOptions {
  readonly reason: TokenRequestReason
  /** Whether it passes over the store's copy. */
  readonly forced?: boolean
  /** A renewal behind a token's use goes on with nobody waiting for it. */
  readonly background?: boolean
  readonly minimumValidityMs?: number
  readonly delayMs?: number
}

/** One request for a token that any number of callers wait for. */
export class TokenFlight {
  readonly controller = new AbortController()
  readonly number: number
  readonly forced: boolean
  #waiting: number
  result!: Promise<TokenLife>

  constructor(number: number, { forced = false, background = false }: FlightOptions) {
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
