import { readInstant, type Instant } from '../platform/clock.ts'
import { onCredentialsChange } from '../tokens/credentials-change.ts'
import { requestToken, type AcquireContext, type ProviderContext } from './request-token.ts'
import { errorCode } from '../sources/send-token-request.ts'
import { slow, StoreSession } from './store-session.ts'
import { TokenError } from '../protocol/token-error.ts'
import { createCachedToken, lifetimeOf, type CachedToken } from './cached-token.ts'
import { isAccessToken } from '../protocol/token-response.ts'
import type { StoredCooldown, StoredToken, TokenLease, TokenStore } from '../tokens/token-store.ts'
import { sleep, waitFor } from '../platform/timers.ts'

const leaseMs = 5_000
const longestSharedHoldMs = 30_000

/**
 * A token by way of a store: the store's own, or a new one, asked for by whoever has the lease. A store
 * that fails is passed over.
 */
export async function acquireSharedToken(plan: AcquireContext, store: TokenStore): Promise<CachedToken> {
  const { settings } = plan
  const session = new StoreSession(store, settings, plan.emit)
  const key = session.over ? undefined : await askKey(plan)
  if (key !== undefined) {
    const stored = await lookUpOrLease(plan, session, key)
    if (stored) return stored
  }
  return (await requestToken(plan)).life
}

/** Undefined where the store fails: then there is no sharing, and no harm done. */
async function lookUpOrLease(
  plan: AcquireContext,
  session: StoreSession,
  key: string,
): Promise<CachedToken | undefined> {
  const { settings, signal } = plan
  while (!session.over) {
    const stored = await lookUp(plan, session, key)
    if (stored) return stored
    const lease = await session.run(
      'lease',
      (store) => store.lease(key, leaseMs),
      (lease) => lease?.release(),
    )
    if (typeof lease?.write === 'function') return underLease(plan, session, key, lease)
    if (session.over || lease !== undefined) break
    await sleep(25 + Math.random() * 175, signal)
    // Half of the time is for asking directly: the others' troubles are not this caller's.
    if (plan.deadline - settings.clock.monotonic() < settings.timeoutMs / 2) break
    session.renewBudget()
  }
  return undefined
}

/** Has the store forget an entry that an API refused. Never fails. */
export async function removeSharedToken(
  { source, settings, emit }: ProviderContext,
  id: string,
): Promise<void> {
  try {
    const key = await source.cacheKey()
    await new StoreSession(settings.store!, settings, emit).run('remove', (store) => store.remove(key, id))
  } catch {
    // The token is remembered here, and whoever reads it elsewhere finds it refused as well.
  }
}

/** Undefined where the source cannot say: its token request then tells the caller why. */
async function askKey({ source, settings, signal, emit }: AcquireContext): Promise<string | undefined> {
  try {
    return await waitFor(source.cacheKey(), settings.attemptTimeoutMs, signal, slow)
  } catch (error) {
    signal.throwIfAborted()
    emit({ type: 'store_unavailable', operation: 'cacheKey', cause: errorCode(error) })
    return undefined
  }
}

async function underLease(plan: AcquireContext, session: StoreSession, key: string, lease: TokenLease) {
  const extend = async (): Promise<unknown> => lease.extend(leaseMs)
  const extension = setInterval(() => void extend().catch(() => {}), leaseMs / 3)
  // Callers do not wait for what is left to do with the store.
  const finish = (work?: () => Promise<unknown>): void =>
    plan.afterwards(async () => {
      session.renewBudget()
      await work?.()
      clearInterval(extension)
      // Even where the session is over: the others need not sit the lease out.
      if (session.over) await waitFor(lease.release(), leaseMs, undefined, () => undefined)
      else await session.run('release', () => lease.release())
    })
  try {
    // Somebody may have written between our look and our lease.
    const stored = await lookUp(plan, session, key)
    const { life, response } = stored ? { life: stored } : await requestToken(plan)
    finish(
      response &&
        (async () => {
          life.storeId = await session.run('write', () => lease.write(response, life.lifetimeMs))
        }),
    )
    return life
  } catch (error) {
    const refusal = error instanceof TokenError && error.oauthError === 'invalid_client' ? error : undefined
    finish(
      refusal &&
        (async () => {
          // One wrong secret, one request for all: but not for long, since anybody can spoof this answer once.
          const { kind, message, status, oauthError } = refusal
          await session.run('hold', () =>
            lease.writeCooldown({ kind, message, status, oauthError }, longestSharedHoldMs),
          )
          if (!session.over) heldByStore(refusal)
        }),
    )
    throw error
  }
}

/** The store ends this hold, or another secret does, whose key is another: each call looks again. */
function heldByStore(error: TokenError): TokenError {
  onCredentialsChange(error, async () => true)
  return error
}

/** The store's token, if it will do. @throws {TokenError} while the store holds a refusal */
async function lookUp(
  plan: AcquireContext,
  session: StoreSession,
  key: string,
): Promise<CachedToken | undefined> {
  const { settings, number: requestId, reason, emit } = plan
  const sent = readInstant(settings.clock)
  const entry: Partial<StoredToken & StoredCooldown> | undefined = await session.run('read', (store) =>
    store.read(key),
  )
  if (typeof entry !== 'object' || entry === null) return undefined
  const { response, remainingMs = 0, error, cooldownMs = 0 } = entry
  if (
    !plan.forced &&
    isAccessToken(response?.accessToken) &&
    typeof remainingMs === 'number' &&
    remainingMs > 0
  ) {
    const life = cachedTokenOf(entry as StoredToken, plan, sent)
    if (plan.accepts(life)) {
      const durationMs = settings.clock.monotonic() - sent.monotonic
      emit({ type: 'token_received', requestId, reason, attempt: 0, from: 'store', durationMs, remainingMs })
      return life
    }
  }
  // One that lasts longer was not made by this package.
  if (cooldownMs > 0 && cooldownMs <= longestSharedHoldMs && error?.kind === 'credentials') {
    throw heldByStore(new TokenError(error))
  }
  return undefined
}

/** Anchored at the moment the read was sent, so that a slow answer makes the token older, not younger. */
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
