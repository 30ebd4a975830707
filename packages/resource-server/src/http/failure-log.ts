import type { TokenVerificationError } from './token-verification-error.ts'

/** A verifier has one failure logged in this time. */
const intervalMs = 60_000
/** Failures to log, and whether a listener has received them. */
const toLog = new WeakMap<TokenVerificationError, boolean>()

/** Selects which of a verifier's failures are logged. */
export class FailureLog {
  #lastAt = Number.NEGATIVE_INFINITY

  select(error: TokenVerificationError, nowMs: number, received: boolean): void {
    if (error.code !== 'unavailable' || nowMs - this.#lastAt < intervalMs) return
    this.#lastAt = nowMs
    toLog.set(error, received)
  }
}

/**
 * Logs why a token could not be checked, at most once a minute.
 *
 * @param log writes to the framework's log. @default `console.error`, unless a listener has received the failure
 */
export function logFailure(error: TokenVerificationError, log?: (text: string, cause: Error) => void): void {
  const received = toLog.get(error)
  if (received === undefined) return
  const [text, cause] = ['An access token could not be checked.', error.cause as Error]
  if (log) log(text, cause)
  // oxlint-disable-next-line eslint/no-console -- where no framework has a log
  else if (!received) console.error(`${text} ${cause.message}`)
}
