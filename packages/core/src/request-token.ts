import { retryDelay } from './backoff.ts'
import { elapsedSince, readInstant, type Instant } from './clock.ts'
import type { ProviderSettings } from './provider-settings.ts'
import { errorCode } from './send-token-request.ts'
import { TokenError } from './token-error.ts'
import type { TokenEvent, TokenRequestReason } from './token-event.ts'
import { createTokenLife, lifetimeOf, type TokenLife } from './token-life.ts'
import type { TokenResponse } from './token-response.ts'
import type { TokenSource } from './token-source.ts'
import { settleWithin, sleep } from './wait.ts'

/** What one flight is to do, and with what. */
export interface FlightPlan {
  readonly source: TokenSource
  readonly settings: ProviderSettings
  readonly emit: (event: TokenEvent) => void
  readonly signal: AbortSignal
  readonly number: number
  readonly reason: TokenRequestReason
  /** When it began; it lasts no longer than the provider's `timeoutMs`. */
  readonly began: Instant
  /** Whether it passes over the store's copy. */
  readonly forced: boolean
  /** Whether a store's token will do. */
  readonly accepts: (life: TokenLife) => boolean
}

/** A new token with the response that it came in, secrets in plain view: for a store, and nobody else. */
export interface NewToken {
  readonly life: TokenLife
  readonly response: TokenResponse
}

/** Asks the source, several times if that may help and there is time. @throws {TokenError} */
export async function requestToken(plan: FlightPlan): Promise<NewToken> {
  const { source, settings, emit, signal, number: flight, reason } = plan
  const { clock, timeoutMs, attemptTimeoutMs, maxAttempts } = settings
  for (let attempt = 1; ; attempt++) {
    const start = readInstant(clock)
    const leftMs = timeoutMs - elapsedSince(plan.began, clock)
    emit({ type: 'token_requested', flight, reason, attempt })
    try {
      const limitMs = Math.max(0, Math.min(attemptTimeoutMs, leftMs))
      const late = () => unavailable(`The token endpoint did not answer within ${Math.round(limitMs)} ms`)
      const response = await settleWithin((signal) => source.requestToken({ signal }), limitMs, signal, late)
      const life = arrive(response, start, plan)
      const durationMs = elapsedSince(start, clock)
      const remainingMs = life.arrivedWithMs
      emit({ type: 'token_received', flight, reason, attempt, from: 'endpoint', durationMs, remainingMs })
      return { life, response }
    } catch (cause) {
      signal.throwIfAborted()
      const error = toTokenError(cause, attempt)
      const { kind, status, oauthError, vendorCode } = error
      const delayMs = attempt < maxAttempts ? retryDelay(error, attempt) : undefined
      const fits = delayMs !== undefined && delayMs < timeoutMs - elapsedSince(plan.began, clock)
      const durationMs = elapsedSince(start, clock)
      const facts = { kind, status, oauthError, vendorCode, ...(fits && { retryInMs: delayMs }) }
      emit({ type: 'token_failed', flight, reason, attempt, durationMs, ...facts })
      if (!fits) throw error
      await sleep(delayMs, signal)
    }
  }
}

function arrive(response: TokenResponse, start: Instant, { settings, emit, number }: FlightPlan): TokenLife {
  const { lifetimeMs, problem } = lifetimeOf(response, settings)
  if (problem) emit({ type: 'lifetime_unknown', flight: number, problem, assumedMs: lifetimeMs })
  const life = createTokenLife(response, start, lifetimeMs, settings)
  if (life.lifetimeMs - life.arrivedWithMs < life.usableMs) return life
  throw unavailable(
    `The token endpoint took so long that its token (${lifetimeMs} ms) had expired on arrival`,
  )
}

function unavailable(message: string): TokenError {
  return new TokenError({ kind: 'unavailable', message })
}

/** Counts the attempts in; of an error that is not ours only its code or name is kept. */
function toTokenError(cause: unknown, attempts: number): TokenError {
  if (!(cause instanceof TokenError)) {
    return new TokenError({
      kind: 'unavailable',
      message: `The token source failed (${errorCode(cause)})`,
      attempts,
    })
  }
  return Object.assign(cause, { attempts })
}
