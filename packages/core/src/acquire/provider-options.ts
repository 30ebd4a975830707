import { systemClock, type Clock } from '../runtime/clock.ts'
import { configurationError } from '../protocol/token-error.ts'
import type { TokenEventListener } from '../tokens/token-event.ts'
import { longestTimer, type ProviderSettings } from './provider-settings.ts'
import type { TokenStore } from './sharing/token-store.ts'

/** How a provider caches and refreshes tokens. Times in milliseconds. */
export interface TokenProviderOptions {
  /** Names the client in errors and events. @default the client ID */
  readonly label?: string | undefined
  /** A store through which tokens are shared. @default the provider's own memory */
  readonly store?: TokenStore | undefined
  /** A token whose remaining lifetime is shorter than this is refreshed in the background. Capped at half the token's lifetime. @default min(300_000, lifetime / 5) */
  readonly refreshAheadMs?: number | undefined
  /** A token whose remaining lifetime is shorter than this is no longer returned. Capped at a quarter of the token's lifetime. @default min(10_000, lifetime / 20) */
  readonly expiryMarginMs?: number | undefined
  /** Lifetime of a token whose response states none; a JWT that expires earlier keeps its own. @default 300_000 */
  readonly defaultLifetimeMs?: number | undefined
  /** Maximum duration of a `getToken` call, retries included. @default 30_000 */
  readonly timeoutMs?: number | undefined
  /** Maximum duration of one token request. @default 10_000 */
  readonly attemptTimeoutMs?: number | undefined
  /** Maximum number of token requests in one `getToken` call while the endpoint is unavailable or rate-limits requests. @default 3 */
  readonly maxAttempts?: number | undefined
  /**
   * A function such as `waitUntil` from `cloudflare:workers`, which keeps the runtime from dropping a token request
   * when the incoming request that started it ends. Without it, there is no background refresh in Workers.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Called with every event; see also {@link TokenProvider.subscribe}. */
  readonly onEvent?: TokenEventListener | undefined
  /** @default the system clocks */
  readonly clock?: Clock | undefined
}

/** With defaults, and with a store of which only the provider itself knows how it works. */
export type ResolvedOptions = ProviderSettings & Pick<TokenProviderOptions, 'store'>

const defaults = {
  defaultLifetimeMs: 300_000,
  timeoutMs: 30_000,
  attemptTimeoutMs: 10_000,
  maxAttempts: 3,
  clock: systemClock,
}

/** The smallest value of each option that is a number. */
const minimums: Readonly<Record<string, number>> = {
  refreshAheadMs: 0,
  expiryMarginMs: 0,
  defaultLifetimeMs: 1,
  timeoutMs: 1,
  attemptTimeoutMs: 1,
  maxAttempts: 1,
}

/** @throws {TokenError} of kind `configuration`, naming the option */
export function resolveSettings(options: TokenProviderOptions): ResolvedOptions {
  const settings: Record<string, unknown> = { ...defaults }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    const minimum = minimums[name]
    if (minimum !== undefined && !(typeof value === 'number' && value >= minimum)) {
      throw configurationError(`${name} must be a number greater than or equal to ${minimum}.`)
    }
    settings[name] = minimum === undefined ? value : Math.min(value as number, longestTimer)
  }
  if (options.store && !options.store.sharing) {
    throw configurationError(
      'store has no `sharing`. Add `sharing: tokenSharing` from @tokenwell/core/store.',
    )
  }
  return settings as never
}
