/// <reference lib="esnext.disposable" preserve="true" />
import { configurationError } from '../protocol/token-error.ts'
import { systemClock, type Clock } from '../runtime/clock.ts'
import { longestTimer } from '../runtime/wait.ts'
import type { TokenStore } from '../sharing/token-store.ts'
import type { ApiChallenge, FirstRequest } from '../protocol/token-source.ts'
import type { AccessToken } from './access-token.ts'
import type { TokenAttachmentEvent, TokenEventListener } from './events.ts'

/** Options of one {@link TokenProvider.getToken} call. */
export interface GetTokenOptions {
  /** Detaches this caller: the call rejects with the signal's reason, and others continue to wait. */
  readonly signal?: AbortSignal | undefined
  /**
   * Minimum remaining lifetime in milliseconds. If it exceeds a whole lifetime, or if the token was requested less than a
   * second ago, the freshest token is returned.
   */
  readonly minimumValidityMs?: number | undefined
  /** Waits for a token that was requested after this call began, ignoring the cached token and every cooldown. */
  readonly forceRefresh?: boolean | undefined
  /**
   * For authors of attachers, and requests that cannot be sent again: after a rejection, such a request waits for the
   * replacement. @default false
   */
  readonly waitForReplacement?: boolean | undefined
}

/** A request whose token an API rejected. For authors of attachers. */
export interface RejectedRequest {
  /** The URL that rejected it. */
  readonly url: string
  /** 2 if the token was itself a replacement: no other one is requested, and the path causes none for a while. */
  readonly attempt: 1 | 2
  /** Whether the request will be sent again. */
  readonly repeatable: boolean
  /**
   * The scopes that the token lacks (403 `insufficient_scope`, RFC 6750, section 3.1); otherwise, it is invalid. Calls get a
   * token that has these as well, once there is one. Nothing changes if the application does not allow them.
   */
  readonly missingScopes?: readonly string[] | undefined
  /** What the API responded, for sources that learn from it where its tokens come from. */
  readonly challenge?: ApiChallenge | undefined
  readonly signal?: AbortSignal | undefined
}

/** Options of {@link TokenProvider.close}. */
export interface CloseOptions {
  /** Waits for the calls that are pending, instead of cancelling their request. @default false */
  readonly whenIdle?: boolean | undefined
  /** Revokes the cached token, unless it is shared through a store. @default false */
  readonly revoke?: boolean | undefined
}

/**
 * Gets tokens, caches them, and refreshes them before they expire. A wrapper that delegates every method by its name behaves
 * as the provider does.
 */
export interface TokenProvider {
  /** Returns a token with sufficient remaining lifetime. @throws {TokenError} if none is available */
  getToken(options?: GetTokenOptions): Promise<AccessToken>
  /** The cached token while it is safe to use; requests nothing. */
  peekToken(): AccessToken | undefined
  /**
   * Reports that an API rejected this token, or the token with this text: the next `getToken` waits for a new one, and returns the old one
   * only if none is available. After 20 rejections, one more every 5 s has this effect; beyond that, the old one stays in
   * use. Does nothing if the cached token is a newer one.
   */
  reject(token: AccessToken | string): void
  /**
   * Reports that an API rejected the token of one request. Other requests continue to use that token until its
   * replacement has arrived. For authors of attachers.
   *
   * @returns the token to send the request with once more; undefined if it is not sent again
   * @throws {TokenError} if no other token is available
   */
  replaceRejected(token: AccessToken, request: RejectedRequest): Promise<AccessToken | undefined>
  /**
   * Sends the first request of the application without a token, if the source learns from its response where the API's tokens
   * come from; see `sendFirst` of `TokenSource`. For authors of attachers.
   */
  sendFirst?<Result>(request: FirstRequest<Result>): Promise<Result | undefined> | undefined
  /** Reports that an API accepted the token of a request to the URL that `urlOf` returns. For authors of attachers. */
  reportSuccess?(urlOf: () => string | URL): void
  /** Passes on to the listeners what happened to a request. For authors of attachers. */
  report(event: TokenAttachmentEvent): void
  /** Drops the cached token and every cooldown: the next call requests a new token. */
  reset(): void
  /** Calls `listener` with every event; returns a function that removes the listener. Errors thrown by a listener are ignored. */
  subscribe(listener: TokenEventListener): () => void
  /**
   * Drops the cached token, removes it from the store, and revokes it at the server (RFC 7009). Other processes that use it
   * get 401s until they have replaced it. Does nothing without a cached token.
   *
   * @throws {TokenError} if the token cannot be revoked; it is dropped nevertheless
   */
  revoke(): Promise<void>
  /**
   * Cancels the pending request, and waits until a new token is stored. Never closes the store.
   *
   * @throws {TokenError} if `revoke` is set and the token cannot be revoked
   */
  close(options?: CloseOptions): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Returns a provider unchanged.
 *
 * @throws {TokenError} of kind `configuration` with this problem, for anything else
 */
export function checkProvider(tokens: TokenProvider, problem: string): TokenProvider {
  const { getToken, requestToken } = Object(tokens) as { getToken?: unknown; requestToken?: unknown }
  if (typeof getToken === 'function') return tokens
  throw configurationError(
    `${problem} ` +
      (requestToken === undefined
        ? 'Pass clientCredentials({ … }) or backendTokens({ … }).'
        : 'This is a token source: pass createTokenProvider(source).'),
  )
}

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
  /** Tells the time, such as in tests. @default the system clocks */
  readonly clock?: Clock | undefined
}

/** The options of a provider with their defaults. */
export type ProviderSettings = TokenProviderOptions &
  Record<'defaultLifetimeMs' | 'timeoutMs' | 'attemptTimeoutMs' | 'maxAttempts', number> & {
    readonly clock: Clock
  }

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

/** What a provider reads of options that are those of its source as well. */
const optionNames = [
  'label',
  'store',
  'refreshAheadMs',
  'expiryMarginMs',
  'defaultLifetimeMs',
  'timeoutMs',
  'attemptTimeoutMs',
  'maxAttempts',
  'waitUntil',
  'onEvent',
  'clock',
] as const satisfies readonly (keyof TokenProviderOptions)[]

/** @throws {TokenError} of kind `configuration`, naming the option */
export function resolveSettings(options: TokenProviderOptions): ProviderSettings {
  const settings: Record<string, unknown> = { ...defaults }
  for (const name of optionNames) {
    const value: unknown = options[name]
    if (value === undefined) continue
    const minimum = minimums[name]
    if (minimum !== undefined && !(typeof value === 'number' && value >= minimum)) {
      throw configurationError(`${name} must be a number greater than or equal to ${minimum}.`)
    }
    settings[name] = minimum === undefined ? value : Math.min(value as number, longestTimer)
  }
  if (options.store && !options.store.sharing) {
    throw configurationError(
      'store has no `sharing`. Add `sharing: tokenSharing` from @tokenwell/core/adapter.',
    )
  }
  return settings as never
}
