import { systemClock, type Clock } from '../platform/clock.ts'
import { configurationError } from '../protocol/secure-url.ts'
import type { TokenEventListener } from '../tokens/token-event.ts'
import type { TokenStore } from '../tokens/token-store.ts'

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

const defaults = {
  defaultLifetimeMs: 300_000,
  timeoutMs: 30_000,
  attemptTimeoutMs: 10_000,
  maxAttempts: 3,
  clock: systemClock,
}

export type ProviderSettings = TokenProviderOptions & typeof defaults

/** Longer delays overflow the timers of every runtime. */
const longestTimer = 2 ** 31 - 1_000

/** @throws {TokenError} of kind `configuration`, naming the option */
export function resolveSettings(options: TokenProviderOptions): ProviderSettings {
  const settings: Record<string, unknown> = { ...defaults }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    const least = /Ahead|Margin/.test(name) ? 0 : 1
    if (/Ms$|Attempts$/.test(name) && !(typeof value === 'number' && value >= least)) {
      throw configurationError(`${name} must be a number of at least ${least}`)
    }
    settings[name] = typeof value === 'number' ? Math.min(value, longestTimer) : value
  }
  return settings as never
}
