import type { ProviderSettings } from '../acquire/provider-options.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { TokenRequestReason } from '../tokens/token-event.ts'
import type { CachedToken } from '../acquire/cached-token.ts'
import { waitFor } from '../platform/timers.ts'

/** Why a flight begins, and how. */
export interface PendingTokenRequestOptions {
  readonly reason: TokenRequestReason
  /** Whether it passes over the store's copy. */
  readonly forced?: boolean
  /** A renewal behind a token's use goes on with nobody waiting for it. */
  readonly background?: boolean
  readonly minimumValidityMs?: number
  readonly delayMs?: number
}

// Callers that come within this time of each other wait as one: thousands of timers would cost more than the token.
const sameMomentMs = 10

/** One request for a token that any number of callers wait for. */
export class PendingTokenRequest {
  readonly controller = new AbortController()
  readonly number: number
  readonly forced: boolean
  #waiting: number
  #together: { readonly deadline: number; readonly result: Promise<CachedToken> } | undefined
  result!: Promise<CachedToken>

  constructor(number: number, { forced = false, background = false }: PendingTokenRequestOptions) {
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
    deadline: number,
    { clock, timeoutMs }: ProviderSettings,
    deserted: () => void,
  ): Promise<CachedToken> {
    const together = this.#together
    if (!signal && together && Math.abs(deadline - together.deadline) < sameMomentMs) return together.result
    this.#waiting++
    // A little later than the flight's own end, which tells more.
    const ms = deadline - clock.monotonic() + 50
    const late = (): TokenError => lateError(timeoutMs)
    const result = waitFor(this.result, ms, signal, late, () => --this.#waiting || deserted())
    if (!signal) this.#together = { deadline, result }
    return result
  }
}

/** For a caller whose time is up. */
export function lateError(timeoutMs: number): TokenError {
  return new TokenError({ kind: 'unavailable', message: `No token came within ${timeoutMs} ms` })
}
