import { elapsedSince, type Clock, type Instant } from '../runtime/clock.ts'
import { jwtPayload, type TokenResponse } from '../protocol/token-response.ts'
import type { TokenSource } from '../protocol/token-source.ts'
import { createAccessToken, type AccessToken } from './access-token.ts'
import type { ProviderSettings } from './token-provider.ts'

const maxLifetimeMs = 365 * 24 * 3600_000
/**
 * A token is used for at least this long, even if it has expired by its own statement: otherwise, a server that always
 * returns such tokens, or one that returns the same token until it expires, would get a request for each call.
 */
const shortestUseMs = 1_000

/** A token; its state depends on the time since `start`, see {@link stateOf}. */
export interface CachedToken {
  readonly token: AccessToken
  /** Already resolved; one promise serves every caller. */
  readonly ready: Promise<AccessToken>
  readonly start: Instant
  readonly lifetimeMs: number
  readonly refreshAtMs: number
  readonly expiringAtMs: number
  /** Remaining lifetime on arrival; a refresh is unlikely to yield a longer one. */
  readonly arrivedWithMs: number
  /** Its entry in the store, if it has one. */
  storeId: string | undefined
  /** Set once an API has rejected it: who waits for its replacement. */
  rejection: 'all_wait' | 'unrepeatable_wait' | undefined
}

/** A token's lifetime in milliseconds, from a second to a year; `problem` is set if the response has no valid one. */
export function lifetimeOf(
  { accessToken, expiresIn }: TokenResponse,
  { defaultLifetimeMs, clock }: Pick<ProviderSettings, 'defaultLifetimeMs' | 'clock'>,
): { readonly lifetimeMs: number; readonly problem?: 'missing' | 'too_long' } {
  // A custom source may return anything.
  if (typeof expiresIn !== 'number' || Number.isNaN(expiresIn)) {
    const lifetimeMs = jwtLifetimeMs(accessToken, clock.now())
    if (lifetimeMs <= defaultLifetimeMs) return { lifetimeMs: Math.max(shortestUseMs, lifetimeMs) }
    return { lifetimeMs: defaultLifetimeMs, problem: 'missing' }
  }
  const lifetimeMs = Math.max(shortestUseMs, expiresIn * 1000)
  return lifetimeMs > maxLifetimeMs ? { lifetimeMs: maxLifetimeMs, problem: 'too_long' } : { lifetimeMs }
}

/**
 * The lifetime by a JWT's claims. The issuer's clock may differ from ours, so the shorter of two readings is used,
 * if positive.
 */
function jwtLifetimeMs(accessToken: string, nowMs: number): number {
  const { exp, iat } = jwtPayload(accessToken) ?? {}
  if (typeof exp !== 'number') return Number.POSITIVE_INFINITY
  const readings = [exp * 1000 - nowMs, typeof iat === 'number' ? (exp - iat) * 1000 : Number.NaN]
  return Math.min(Number.POSITIVE_INFINITY, ...readings.filter((ms) => ms > 0))
}

/** @param start the moment the request was sent, so that a token never counts as younger than it is */
export function createCachedToken(
  response: TokenResponse,
  start: Instant,
  lifetimeMs: number,
  settings: ProviderSettings,
  source: Pick<TokenSource, 'binding' | 'resource'>,
  storeId?: string,
): CachedToken {
  const ahead = settings.refreshAheadMs ?? Math.min(300_000, lifetimeMs / 5)
  const margin = Math.min(settings.expiryMarginMs ?? Math.min(10_000, lifetimeMs / 20), lifetimeMs / 4)
  // Spread by ±10 %, so that a fleet that started together does not refresh together.
  const spread = 0.9 + Math.random() * 0.2
  const expiringAtMs = Math.max(shortestUseMs, lifetimeMs - margin)
  const { refreshIn = 0 } = response
  const recommendedMs = refreshIn > 0 ? refreshIn * 1000 * spread : Number.POSITIVE_INFINITY
  const aheadAtMs = lifetimeMs - Math.min(ahead * spread, lifetimeMs / 2)
  const remainingMs = (): number => lifetimeMs - elapsedSince(start, settings.clock)
  const token = createAccessToken(response, start.wall + lifetimeMs, remainingMs, source)
  return {
    token,
    ready: Promise.resolve(token),
    start,
    lifetimeMs,
    refreshAtMs: Math.max(shortestUseMs, Math.min(expiringAtMs, recommendedMs, aheadAtMs)),
    expiringAtMs,
    arrivedWithMs: remainingMs(),
    storeId,
    rejection: undefined,
  }
}

/**
 * What a provider may do with its token: use it, use and refresh it, or wait for another one. One whose rejection is
 * `unrepeatable_wait` is not `rejected`: most calls still use it.
 */
export type TokenState = 'none' | 'fresh' | 'due' | 'rejected' | 'expiring'

/** The state of a cached token; pure but for the clock. */
export function stateOf(cached: CachedToken | undefined, clock: Clock): TokenState {
  if (cached === undefined) return 'none'
  const elapsedMs = elapsedSince(cached.start, clock)
  if (elapsedMs >= cached.expiringAtMs) return 'expiring'
  if (cached.rejection === 'all_wait') return 'rejected'
  return elapsedMs < cached.refreshAtMs ? 'fresh' : 'due'
}

/** Whether a token is valid for long enough. A fresh one is, too, if a new one would last hardly longer. */
export function hasValidity(cached: CachedToken, clock: Clock, minimumValidityMs: number): boolean {
  const elapsedMs = elapsedSince(cached.start, clock)
  if (elapsedMs >= cached.expiringAtMs) return false
  // NaN, for example from an unset variable, means no minimum.
  if (!(cached.lifetimeMs - elapsedMs < minimumValidityMs)) return true
  return (
    elapsedMs < shortestUseMs || (minimumValidityMs >= cached.arrivedWithMs && elapsedMs < cached.refreshAtMs)
  )
}

/** Whether a token has expired before its response arrived. One that had expired when it was issued is all there is. */
export function isExpiredOnArrival(cached: CachedToken): boolean {
  const elapsedMs = cached.lifetimeMs - cached.arrivedWithMs
  return cached.lifetimeMs > shortestUseMs && elapsedMs >= cached.expiringAtMs
}
