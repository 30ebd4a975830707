import { systemClock, type Clock } from './clock.ts'
import { configurationError } from './secure-url.ts'
import type { TokenEventListener } from './token-event.ts'
import type { TokenStore } from './token-store.ts'

/** How a provider keeps and renews tokens. Times in milliseconds. */
export interface TokenProviderOptions {
  /** A store to share tokens through. @default the provider's own memory */
  readonly store?: TokenStore | undefined
  /** A token with less left than this is renewed behind its use; at most half its life. @default min(300_000, a fifth of its life) */
  readonly refreshAheadMs?: number | undefined
  /** A token with less left than this is no longer handed out; at most a quarter of its life. @default min(10_000, a twentieth of its life) */
  readonly expiryMarginMs?: number | undefined
  /** Life of a token whose answer does not say. @default 300_000 */
  readonly defaultLifetimeMs?: number | undefined
  /** The longest a `getToken` takes, retries included. @default 30_000 */
  readonly timeoutMs?: number | undefined
  /** The longest one token request takes. @default 10_000 */
  readonly attemptTimeoutMs?: number | undefined
  /** Token requests for one `getToken` while the endpoint is unavailable. @default 3 */
  readonly maxAttempts?: number | undefined
  /** Ask for a token at once, before the first caller does. @default false */
  readonly eager?: boolean | undefined
  /** Told of every event; see also {@link TokenProvider.on}. */
  readonly onEvent?: TokenEventListener | undefined
  /** @default the system's clocks */
  readonly clock?: Clock | undefined
}

export type ProviderSettings = ReturnType<typeof resolveSettings>

/** Longer delays overflow the timers of every runtime. */
const longestTimer = 2 ** 31 - 1

/** @throws {TokenError} of kind `configuration`, naming the option */
export function resolveSettings(options: TokenProviderOptions) {
  const milliseconds = <Default extends number | undefined>(
    name: keyof TokenProviderOptions,
    fallback: Default,
    least = 0,
  ): number | Default => {
    const value = options[name] as unknown
    if (value === undefined) return fallback
    if (typeof value === 'number' && value >= least) return Math.min(value, longestTimer)
    throw configurationError(`${name} must be a number of at least ${least}`)
  }
  return {
    store: options.store,
    refreshAheadMs: milliseconds('refreshAheadMs', undefined),
    expiryMarginMs: milliseconds('expiryMarginMs', undefined),
    defaultLifetimeMs: milliseconds('defaultLifetimeMs', 300_000, 1),
    timeoutMs: milliseconds('timeoutMs', 30_000, 1),
    attemptTimeoutMs: milliseconds('attemptTimeoutMs', 10_000, 1),
    maxAttempts: milliseconds('maxAttempts', 3, 1),
    eager: options.eager ?? false,
    onEvent: options.onEvent,
    clock: options.clock ?? systemClock,
  } as const
}
