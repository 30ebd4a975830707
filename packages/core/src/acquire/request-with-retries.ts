import { readInstant, type Instant } from '../runtime/clock.ts'
import { abortQuietly } from '../runtime/abort.ts'
import { errorCode } from '../runtime/error-code.ts'
import { sleep, waitFor } from '../runtime/timers.ts'
import { isNextjsSignal } from '../protocol/nextjs-signal.ts'
import { changeTokenError, isTokenError, TokenError } from '../protocol/token-error.ts'
import { isAccessToken, type TokenResponse } from '../protocol/token-response.ts'
import type { TokenEvent } from '../tokens/token-event.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import { createCachedToken, isExpiredOnArrival, lifetimeOf, type CachedToken } from './cached-token.ts'
import { retryDelayMs } from './cooldown.ts'
import type { ProviderSettings } from './provider-settings.ts'
import type { SharedRequest } from './shared-request.ts'

/** What a provider needs to acquire tokens. */
export interface ProviderContext {
  readonly source: TokenSource
  readonly settings: ProviderSettings
  readonly emit: (event: TokenEvent) => void
  /** Runs work that only `close` waits for. */
  readonly afterwards: (work: () => Promise<unknown>) => void
}

/** What one pending token request needs. */
export interface AcquireContext extends ProviderContext {
  readonly request: SharedRequest
  /** Cancels the request, or a part of it. */
  readonly signal: AbortSignal
  /** Failures in a row before this request. */
  readonly failures: number
  /** Whether a token from the store is accepted. */
  readonly accepts: (cached: CachedToken) => boolean
}

/** A new token and its response, whose secrets are readable: for a store only. */
export interface NewToken {
  readonly cached: CachedToken
  readonly response: TokenResponse
}

/**
 * Requests a token from the source, and retries where that can help and time allows.
 *
 * @param onRetry called before a retry with the failure and the pause in milliseconds
 * @throws {TokenError}
 */
export async function requestWithRetries(
  context: AcquireContext,
  onRetry?: (error: TokenError, pauseMs: number) => void,
): Promise<NewToken> {
  const { source, settings, emit, signal, request } = context
  const { clock, attemptTimeoutMs } = settings
  // With a store, a failing endpoint is probed once, not once per process and attempt.
  const maxAttempts = settings.store && context.failures > 0 ? 1 : settings.maxAttempts
  const remainingMs = (): number => request.deadline - clock.monotonic()
  for (let attempt = 1; ; attempt++) {
    // All callers may have left while a store did not respond, or during a pause.
    signal.throwIfAborted()
    const start = readInstant(clock)
    const facts = { requestId: request.id, reason: request.options.reason, attempt }
    emit({ type: 'token_requested', ...facts })
    try {
      const limitMs = Math.max(0, Math.min(attemptTimeoutMs, remainingMs()))
      request.expectProgress(limitMs)
      const response = await attemptOnce(source, limitMs, context)
      const cached = cacheResponse(response, start, context)
      const durationMs = clock.monotonic() - start.monotonic
      emit({
        type: 'token_received',
        ...facts,
        from: 'endpoint',
        durationMs,
        remainingMs: cached.arrivedWithMs,
      })
      return { cached, response }
    } catch (cause) {
      const durationMs = clock.monotonic() - start.monotonic
      const isSignal = isNextjsSignal(cause)
      if (signal.aborted || isSignal) emit({ type: 'token_failed', ...facts, durationMs, kind: 'aborted' })
      signal.throwIfAborted()
      if (isSignal) throw cause
      const error = toTokenError(cause, attempt)
      const { kind, status, oauthError, vendorCode } = error
      let retryInMs = attempt < maxAttempts ? retryDelayMs(error, attempt, remainingMs()) : undefined
      if (retryInMs !== undefined && retryInMs >= remainingMs()) retryInMs = undefined
      emit({ type: 'token_failed', ...facts, durationMs, kind, status, oauthError, vendorCode, retryInMs })
      if (retryInMs === undefined) throw error
      onRetry?.(error, retryInMs)
      request.expectProgress(retryInMs)
      await sleep(retryInMs, signal)
    }
  }
}

/** Bounded in time even if the source ignores the signal. */
async function attemptOnce(
  source: TokenSource,
  limitMs: number,
  { signal, settings }: AcquireContext,
): Promise<TokenResponse> {
  const controller = new AbortController()
  const label = settings.label ?? source.label
  const client = label ? ` to "${label}"` : ''
  const timeoutError = (): TokenError =>
    unavailable(`The token endpoint did not respond${client} within ${Math.round(limitMs) / 1000} s.`)
  const request = source.requestToken({ signal: controller.signal, label })
  return waitFor(request, limitMs, signal, timeoutError, () => abortQuietly(controller))
}

function cacheResponse(
  response: TokenResponse,
  start: Instant,
  { settings, emit, request }: AcquireContext,
): CachedToken {
  if (!isAccessToken(response?.accessToken)) {
    throw new TokenError({
      kind: 'malformed',
      message: 'The token source returned no valid access token. Check its requestToken().',
    })
  }
  const { lifetimeMs, problem } = lifetimeOf(response, settings)
  if (problem) emit({ type: 'lifetime_unknown', requestId: request.id, problem, assumedMs: lifetimeMs })
  const cached = createCachedToken(response, start, lifetimeMs, settings)
  if (!isExpiredOnArrival(cached)) return cached
  throw unavailable(
    `The token (lifetime ${lifetimeMs / 1000} s) expired before the response of the token endpoint arrived.`,
  )
}

function unavailable(message: string): TokenError {
  return new TokenError({ kind: 'unavailable', message })
}

/** Keeps only the code or name of an unknown error, because its text may hold a secret. */
export function toTokenError(cause: unknown, attempts?: number): TokenError {
  const error = isTokenError(cause) ? cause : unavailable(`The token source failed (${errorCode(cause)}).`)
  if (attempts === undefined) return error
  return Object.isExtensible(error)
    ? Object.assign(error, { attempts })
    : changeTokenError(error, { attempts })
}
