import { createAccessToken, type AccessToken } from '../tokens/access-token.ts'
import { elapsedSince, type Instant } from '../platform/clock.ts'
import type { ProviderSettings } from './provider-options.ts'
import type { TokenResponse } from '../protocol/token-response.ts'

const longestLifetimeMs = 365 * 24 * 3600_000

/**
 * A token and the stretches of its life: fresh until `freshMs` have passed, ageing until `usableMs`,
 * expiring after that.
 */
export interface CachedToken {
  readonly token: AccessToken
  /** Resolved already; one promise serves every caller. */
  readonly ready: Promise<AccessToken>
  readonly start: Instant
  readonly lifetimeMs: number
  readonly freshMs: number
  readonly usableMs: number
  /** What was left of it when it came: no renewal gives much more. */
  readonly arrivedWithMs: number
  /** Its entry in the store, if it has one. */
  storeId: string | undefined
}

/** A token's lifetime in milliseconds; `problem` when the answer's own was of no use. Never unbounded. */
export function lifetimeOf(
  { expiresIn }: TokenResponse,
  { defaultLifetimeMs }: ProviderSettings,
): { readonly lifetimeMs: number; readonly problem?: 'missing' | 'too_long' } {
  // A source written by hand may give anything.
  if (typeof expiresIn !== 'number' || !(expiresIn > 0))
    return { lifetimeMs: defaultLifetimeMs, problem: 'missing' }
  const lifetimeMs = expiresIn * 1000
  return lifetimeMs > longestLifetimeMs
    ? { lifetimeMs: longestLifetimeMs, problem: 'too_long' }
    : { lifetimeMs }
}

/** @param start the moment the request was sent: a token is never thought younger than it is */
export function createCachedToken(
  response: TokenResponse,
  start: Instant,
  lifetimeMs: number,
  settings: ProviderSettings,
  storeId?: string,
): CachedToken {
  const ahead = settings.refreshAheadMs ?? Math.min(300_000, lifetimeMs / 5)
  const margin = Math.min(settings.expiryMarginMs ?? Math.min(10_000, lifetimeMs / 20), lifetimeMs / 4)
  // Spread by ±10 %, so that a fleet that started together does not renew together.
  const spread = 0.9 + Math.random() * 0.2
  const usableMs = lifetimeMs - margin
  const remainingMs = (): number => lifetimeMs - elapsedSince(start, settings.clock)
  const token = createAccessToken(response, start.wall + lifetimeMs, remainingMs)
  return {
    token,
    ready: Promise.resolve(token),
    start,
    lifetimeMs,
    freshMs: Math.min(usableMs, lifetimeMs - Math.min(ahead * spread, lifetimeMs / 2)),
    usableMs,
    arrivedWithMs: remainingMs(),
    storeId,
  }
}

/** Whether a token is usable, and for long enough; one that no renewal could outlast will do while it is fresh. */
export function lasts(life: CachedToken, elapsedMs: number, minimumValidityMs: number): boolean {
  if (elapsedMs >= life.usableMs) return false
  // Not a number, as of a variable that is not set: no minimum.
  if (!(life.lifetimeMs - elapsedMs < minimumValidityMs)) return true
  return minimumValidityMs >= life.arrivedWithMs && elapsedMs < life.freshMs
}
