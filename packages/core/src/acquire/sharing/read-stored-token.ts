import { readInstant, type Instant } from '../../runtime/clock.ts'
import type { TokenError } from '../../protocol/token-error.ts'
import { isAccessToken } from '../../protocol/token-response.ts'
import { createCachedToken, lifetimeOf, type CachedToken } from '../cached-token.ts'
import { longestCooldownMs, SharedFailure } from '../cooldown.ts'
import type { AcquireContext } from '../request-with-retries.ts'
import type { StoreOperations } from './store-operations.ts'
import type { StoredCooldown, StoredToken } from './token-store.ts'

/** Whether other processes would meet the same failure; one that has no cooldown is not shared anyway. */
export function isShared({ kind }: TokenError): boolean {
  return kind !== 'configuration'
}

/** The stored token, if it is accepted. @throws {SharedFailure} during a stored cooldown */
export async function readStoredToken(
  context: AcquireContext,
  operations: StoreOperations,
): Promise<CachedToken | undefined> {
  const { settings, request, emit } = context
  const { reason, forced } = request.options
  if (forced) return undefined
  const sent = readInstant(settings.clock)
  const entry: Partial<StoredToken & StoredCooldown> | undefined = await operations.run(
    'read',
    (store, key) => store.read(key),
  )
  if (typeof entry !== 'object' || entry === null) return undefined
  const { response, remainingMs = 0 } = entry
  if (isAccessToken(response?.accessToken) && typeof remainingMs === 'number' && remainingMs > 0) {
    const cached = cachedTokenOf(entry as StoredToken, context, sent)
    if (context.accepts(cached)) {
      const durationMs = settings.clock.monotonic() - sent.monotonic
      const facts = { requestId: request.id, reason, attempt: 0, durationMs, remainingMs }
      emit({ type: 'token_received', ...facts, from: 'store' })
      return cached
    }
  }
  const failure = readCooldown(entry)
  if (failure) throw failure
  return undefined
}

/** The failure of a stored cooldown. One that is longer than our own rules allow was not written by this package. */
function readCooldown({ error, cooldownMs }: Partial<StoredCooldown>): SharedFailure | undefined {
  if (
    typeof error?.message !== 'string' ||
    typeof cooldownMs !== 'number' ||
    !isShared(error as TokenError)
  ) {
    return undefined
  }
  // Including jitter.
  const longestMs = 1.25 * longestCooldownMs(error.kind)
  return cooldownMs > 0 && cooldownMs <= longestMs ? new SharedFailure(error, cooldownMs) : undefined
}

/** Anchored at the moment the read was sent, so that a slow response makes the token older, not younger. */
function cachedTokenOf(
  { id, response, remainingMs }: StoredToken,
  { settings }: AcquireContext,
  sent: Instant,
): CachedToken {
  const { lifetimeMs } = lifetimeOf(response, settings)
  const age = lifetimeMs - Math.min(remainingMs, lifetimeMs)
  const start = { wall: sent.wall - age, monotonic: sent.monotonic - age }
  return { ...createCachedToken(response, start, lifetimeMs, settings, id), arrivedWithMs: lifetimeMs }
}
