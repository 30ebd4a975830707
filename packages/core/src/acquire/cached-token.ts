import { elapsedSince, systemClock, type Clock, type Instant } from '../platform/clock.ts'
import { jwtPayload, type TokenResponse } from '../protocol/token-response.ts'
import { createAccessToken, type AccessToken } from '../tokens/access-token.ts'
import type { ProviderSettings } from './provider-options.ts'

const maxLifetimeMs = 365 * 24 * 3600_000

/**
 * A token and its states, by the time since `start`: fresh until `refreshAtMs`, due for refresh until
 * `expiringAtMs`, expiring after that.
 */
export interface CachedToken {
  readonly token: AccessToken
  /** Already resolved; one promise serves every caller. */
  readonly ready: Promise<AccessToken>
  readonly start: Instant
  readonly lifetimeMs: number
  /** Zero once the token was rejected. */
  refreshAtMs: number
  /** The wall clock when both clocks said last that it is fresh for another second; see {@link isFresh}. */
  checkedAt: number
  readonly expiringAtMs: number
  /** Remaining lifetime when it arrived: a refresh yields hardly more. */
  readonly arrivedWithMs: number
  /** Its entry in the store, if it has one. */
  storeId: string | undefined
  /** Whether the program called `reject` for it: other callers wait for its replacement as well. */
  rejected: boolean
}

/** A token's lifetime in milliseconds; `problem` if the response has no valid one. Never unbounded. */
export function lifetimeOf(
  { accessToken, expiresIn }: TokenResponse,
  { defaultLifetimeMs, clock }: Pick<ProviderSettings, 'defaultLifetimeMs' | 'clock'>,
): { readonly lifetimeMs: number; readonly problem?: 'missing' | 'too_long' } {
  // A source written by hand may return anything.
  if (typeof expiresIn !== 'number' || !(expiresIn > 0)) {
    const lifetimeMs = jwtLifetimeMs(accessToken, clock.now())
    if (lifetimeMs < defaultLifetimeMs) return { lifetimeMs }
    return { lifetimeMs: defaultLifetimeMs, problem: 'missing' }
  }
  const lifetimeMs = expiresIn * 1000
  return lifetimeMs > maxLifetimeMs ? { lifetimeMs: maxLifetimeMs, problem: 'too_long' } : { lifetimeMs }
}

/** By the claims of a JWT. The issuer's clock may differ from ours: the shorter of two readings, if it is positive. */
function jwtLifetimeMs(accessToken: string, nowMs: number): number {
  const { exp, iat } = jwtPayload(accessToken) ?? {}
  if (typeof exp !== 'number') return Number.POSITIVE_INFINITY
  const readings = [exp * 1000 - nowMs, typeof iat === 'number' ? (exp - iat) * 1000 : Number.NaN]
  return Math.min(Number.POSITIVE_INFINITY, ...readings.filter((ms) => ms > 0))
}

/** @param start the moment the request was sent: a token never counts as younger than it is */
export function createCachedToken(
  response: TokenResponse,
  start: Instant,
  lifetimeMs: number,
  settings: ProviderSettings,
  storeId?: string,
): CachedToken {
  const ahead = settings.refreshAheadMs ?? Math.min(300_000, lifetimeMs / 5)
  const margin = Math.min(settings.expiryMarginMs ?? Math.min(10_000, lifetimeMs / 20), lifetimeMs / 4)
  // Spread by ±10 %, so that a fleet that started together does not refresh together.
  const spread = 0.9 + Math.random() * 0.2
  const expiringAtMs = lifetimeMs - margin
  const recommendedMs = (response.refreshIn ?? Number.POSITIVE_INFINITY) * 1000 * spread
  const remainingMs = (): number => lifetimeMs - elapsedSince(start, settings.clock)
  const token = createAccessToken(response, start.wall + lifetimeMs, remainingMs)
  return {
    token,
    ready: Promise.resolve(token),
    start,
    lifetimeMs,
    refreshAtMs: Math.min(expiringAtMs, recommendedMs, lifetimeMs - Math.min(ahead * spread, lifetimeMs / 2)),
    checkedAt: Number.NEGATIVE_INFINITY,
    expiringAtMs,
    arrivedWithMs: remainingMs(),
    storeId,
    rejected: false,
  }
}

const trustedMs = 1_000

/**
 * Whether a token is fresh. Reading a clock costs as much as the rest of a call that finds a fresh token: for a second
 * after both clocks were read, the wall clock is read alone, unless it was set back.
 */
export function isFresh(cached: CachedToken, clock: Clock): boolean {
  const sinceCheckMs = Date.now() - cached.checkedAt
  if (sinceCheckMs >= 0 && sinceCheckMs < trustedMs) return true
  const elapsedMs = elapsedSince(cached.start, clock)
  // Never with the clock of a test, which is read each time.
  if (clock === systemClock && elapsedMs + trustedMs < cached.refreshAtMs) cached.checkedAt = Date.now()
  return elapsedMs < cached.refreshAtMs
}

/** Whether a token is valid for long enough; a fresh token also if a new one would not last longer. */
export function hasValidity(cached: CachedToken, elapsedMs: number, minimumValidityMs: number): boolean {
  if (elapsedMs >= cached.expiringAtMs) return false
  // NaN, for example from an unset variable, means no minimum.
  if (!(cached.lifetimeMs - elapsedMs < minimumValidityMs)) return true
  return minimumValidityMs >= cached.arrivedWithMs && elapsedMs < cached.refreshAtMs
}
