import { describeReason, explainReason, type RejectionReason } from './rejection-reason.ts'
import type { TokenVerificationError } from './token-verification-error.ts'

interface Entry {
  readonly level: 'error' | 'warn'
  readonly text: string
  /** For a structured log. */
  readonly details: { readonly err: Error } | { readonly reason: RejectionReason }
  /** Whether a listener has received it: then it is not written to the console as well. */
  readonly received: boolean
}

/** A verifier has one failure of a kind logged in this time. */
const intervalMs = 60_000
const toLog = new WeakMap<TokenVerificationError, Entry>()

/** Selects which of a verifier's failures are logged: tokens that could not be checked, and why tokens were rejected. */
export class FailureLog {
  /** By what failed: few, whatever clients send. */
  readonly #lastAt = new Map<string, number>()
  readonly #explained = new Set<string>()

  select(error: TokenVerificationError, nowMs: number, received: boolean): void {
    const { code, reason, cause } = error
    // That a token is not active says nothing more than that it was rejected.
    const isInactive = reason?.claim === 'active' && reason.received === 'false'
    const isRejected = code === 'invalid_token' && reason !== undefined && !isInactive
    if (code !== 'unavailable' && !isRejected) return
    const kind = isRejected ? reason.claim : code
    if (nowMs - (this.#lastAt.get(kind) ?? Number.NEGATIVE_INFINITY) < intervalMs) return
    this.#lastAt.set(kind, nowMs)
    if (!isRejected) {
      const err = cause as Error
      const text = `An access token could not be checked. ${err.message}`
      return void toLog.set(error, { level: 'error', text, details: { err }, received })
    }
    const explanation = this.#explained.has(kind) || !isDevelopment() ? undefined : explainReason(reason)
    if (explanation !== undefined) this.#explained.add(kind)
    const text = [`An access token was rejected: ${describeReason(reason)}.`, explanation].filter(Boolean)
    toLog.set(error, { level: 'warn', text: text.join(' '), details: { reason }, received })
  }
}

function isDevelopment(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return !/^(?:production|test)$/.test(process?.env?.['NODE_ENV'] ?? '')
}

/**
 * Logs why a token could not be checked or was rejected, at most once a minute for each cause.
 *
 * @param log writes to the framework's log. @default the console, unless a listener has received the failure
 */
export function logFailure(
  error: TokenVerificationError,
  log?: (level: Entry['level'], text: string, details: Entry['details']) => void,
): void {
  const entry = toLog.get(error)
  if (entry === undefined) return
  if (log) log(entry.level, entry.text, entry.details)
  // oxlint-disable-next-line eslint/no-console -- where no framework has a log
  else if (!entry.received) console[entry.level](entry.text)
}
