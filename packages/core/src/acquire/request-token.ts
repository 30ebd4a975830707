import { readInstant, type Instant } from '../platform/clock.ts'
import type { ProviderSettings } from './provider-options.ts'
import { errorCode } from '../sources/send-token-request.ts'
import { retryDelay } from './cooldown.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { TokenEvent, TokenRequestReason } from '../tokens/token-event.ts'
import { createCachedToken, lifetimeOf, type CachedToken } from './cached-token.ts'
import { isAccessToken, type TokenResponse } from '../protocol/token-response.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import { sleep, waitFor } from '../platform/timers.ts'

/** What a provider works with. */
export interface ProviderContext {
  readonly source: TokenSource
  readonly settings: ProviderSettings
  readonly emit: (event: TokenEvent) => void
}

/** What one flight is to do. */
export interface AcquireContext extends ProviderContext {
  readonly signal: AbortSignal
  readonly number: number
  readonly reason: TokenRequestReason
  /** When it must have ended, by the monotonic clock: one that is set must not cut it short. */
  readonly deadline: number
  /** Whether it passes over the store's copy. */
  readonly forced: boolean
  /** Does what is left to do without anybody waiting, but for whoever closes the provider. */
  readonly afterwards: (work: () => Promise<unknown>) => void
  /** Whether a store's token will do. */
  readonly accepts: (life: CachedToken) => boolean
}

/** A new token with the response that it came in, secrets in plain view: for a store, and nobody else. */
export interface NewToken {
  readonly life: CachedToken
  readonly response: TokenResponse
}

/** Asks the source, several times if that may help and there is time. @throws {TokenError} */
export async function requestToken(plan: AcquireContext): Promise<NewToken> {
  const { source, settings, emit, signal, number: requestId, reason } = plan
  const { clock, attemptTimeoutMs, maxAttempts } = settings
  const leftMs = (): number => plan.deadline - clock.monotonic()
  for (let attempt = 1; ; attempt++) {
    // Everybody may have left while a store was silent, or a retry was waited for.
    signal.throwIfAborted()
    const start = readInstant(clock)
    const facts = { requestId, reason, attempt }
    emit({ type: 'token_requested', ...facts })
    try {
      const limitMs = Math.max(0, Math.min(attemptTimeoutMs, leftMs()))
      const response = await attemptOnce(source, limitMs, signal)
      const life = arrive(response, start, plan)
      const durationMs = clock.monotonic() - start.monotonic
      emit({
        type: 'token_received',
        ...facts,
        from: 'endpoint',
        durationMs,
        remainingMs: life.arrivedWithMs,
      })
      return { life, response }
    } catch (cause) {
      const durationMs = clock.monotonic() - start.monotonic
      if (signal.aborted) emit({ type: 'token_failed', ...facts, durationMs, kind: 'aborted' })
      signal.throwIfAborted()
      const error = toTokenError(cause, attempt)
      const { kind, status, oauthError, vendorCode } = error
      let retryInMs = attempt < maxAttempts ? retryDelay(error, attempt) : undefined
      if (retryInMs !== undefined && retryInMs >= leftMs()) retryInMs = undefined
      emit({ type: 'token_failed', ...facts, durationMs, kind, status, oauthError, vendorCode, retryInMs })
      if (retryInMs === undefined) throw error
      await sleep(retryInMs, signal)
    }
  }
}

/** Bounded in time even where the source heeds no signal. */
async function attemptOnce(
  source: TokenSource,
  limitMs: number,
  signal: AbortSignal,
): Promise<TokenResponse> {
  const controller = new AbortController()
  const late = (): TokenError =>
    unavailable(`The token endpoint did not answer within ${Math.round(limitMs)} ms`)
  const request = source.requestToken({ signal: controller.signal })
  return waitFor(request, limitMs, signal, late, () => controller.abort())
}

function arrive(
  response: TokenResponse,
  start: Instant,
  { settings, emit, number }: AcquireContext,
): CachedToken {
  if (!isAccessToken(response?.accessToken)) {
    throw new TokenError({ kind: 'malformed', message: 'The token source gave no usable access token' })
  }
  const { lifetimeMs, problem } = lifetimeOf(response, settings)
  if (problem) emit({ type: 'lifetime_unknown', requestId: number, problem, assumedMs: lifetimeMs })
  const life = createCachedToken(response, start, lifetimeMs, settings)
  if (life.lifetimeMs - life.arrivedWithMs < life.usableMs) return life
  throw unavailable(
    `The token endpoint took so long that its token (${lifetimeMs} ms) had expired on arrival`,
  )
}

function unavailable(message: string): TokenError {
  return new TokenError({ kind: 'unavailable', message })
}

/** Of an error that is not ours only its code or name is kept: its text may hold a secret. */
export function toTokenError(cause: unknown, attempts?: number): TokenError {
  const error =
    cause instanceof TokenError ? cause : unavailable(`The token source failed (${errorCode(cause)})`)
  return attempts === undefined ? error : Object.assign(error, { attempts })
}
