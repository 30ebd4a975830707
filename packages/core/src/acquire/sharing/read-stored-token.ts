import { createCachedToken, lifetimeOf, type CachedToken } from '../cached-token.ts'
import { longestCooldownMs, shareCooldown } from '../cooldown.ts'
import type { AcquireContext } from '../request-with-retries.ts'
import { readInstant, type Instant } from '../../runtime/clock.ts'
import { TokenError } from '../../protocol/token-error.ts'
import { isAccessToken } from '../../protocol/token-response.ts'
import type { StoredCooldown, StoredToken } from '../../tokens/token-store.ts'
import type { StoreOperations } from './store-operations.ts'

/** Whether other processes would meet the same failure; one that has no cooldown is not shared anyway. */
export function isShared({ kind }: TokenError): boolean {
  return kind !== 'configuration'
}

/** The stored token, if it is accepted. @throws {TokenError} during a stored cooldown */
export async function readStoredToken(
  context: AcquireContext,
  operations: StoreOperations,
): Promise<CachedToken | undefined> {
  if (context.forced) return undefined
  const { settings, requestId, reason, emit } = context
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
      emit({ type: 'token_received', requestId, reason, attempt: 0, from: 'store', durationMs, remainingMs })
      return cached
    }
  }
  const cooldown = readCooldown(entry)
  if (cooldown) throw cooldown
  return undefined
}

/** The error of a stored cooldown. One that is longer than our own rules allow was not written by this package. */
function readCooldown({ error, cooldownMs }: Partial<StoredCooldown>): TokenError | undefined {
  if (
    typeof error?.message !== 'string' ||
    typeof cooldownMs !== 'number' ||
    !isShared(error as TokenError)
  ) {
    return undefined
  }
  // Including jitter.
  const longestMs = 1.25 * longestCooldownMs(error.kind)
  if (!(cooldownMs > 0 && cooldownMs <= longestMs)) return undefined
  const { failures = 1, ...facts } = error
  return shareCooldown(new TokenError(facts), { ms: cooldownMs, failures })
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
