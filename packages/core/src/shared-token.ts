import { elapsedSince, readInstant } from './clock.ts'
import { onCredentialsChange } from './credentials-changed.ts'
import { requestToken, type FlightPlan, type ProviderContext } from './request-token.ts'
import { StoreSession } from './store-session.ts'
import { TokenError } from './token-error.ts'
import { createTokenLife, lifetimeOf, type TokenLife } from './token-life.ts'
import type { StoredToken, TokenLease, TokenStore } from './token-store.ts'
import { sleep } from './wait.ts'

const leaseMs = 5_000
const longestSharedHoldMs = 30_000

/**
 * A token by way of a store: the store's own, or a new one, asked for by whoever has the lease. A store
 * that fails is passed over.
 */
export async function obtainSharedToken(plan: FlightPlan, store: TokenStore): Promise<TokenLife> {
  const { settings, signal } = plan
  const key = await plan.source.cacheKey()
  const session = new StoreSession(store, settings, plan.emit)
  while (!session.over) {
    const stored = await lookUp(plan, session, key)
    if (stored) return stored
    const lease = await session.run(
      'lease',
      (store) => store.lease(key, leaseMs),
      (lease) => lease?.release(),
    )
    if (lease) return underLease(plan, session, key, lease)
    if (session.over) break
    await sleep(25 + Math.random() * 175, signal)
    if (elapsedSince(plan.began, settings.clock) >= settings.timeoutMs) {
      throw new TokenError({
        kind: 'unavailable',
        message: 'Another process was asked to get the token, and did not',
      })
    }
    session.renewBudget()
  }
  return (await requestToken(plan)).life
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
    // The entry's id is remembered here, and whoever reads it elsewhere finds it refused as well.
  }
}

async function underLease(plan: FlightPlan, session: StoreSession, key: string, lease: TokenLease) {
  const extension = setInterval(() => void lease.extend(leaseMs).catch(() => {}), leaseMs / 3)
  try {
    // Somebody may have written between our look and our lease.
    const stored = await lookUp(plan, session, key)
    if (stored) return stored
    const { life, response } = await requestToken(plan)
    const storeId = await session.run('write', () => lease.write(response, life.lifetimeMs))
    return { ...life, storeId }
  } catch (error) {
    // One wrong secret, one request for all: but not for long, since anybody can spoof this answer once.
    if (error instanceof TokenError && error.oauthError === 'invalid_client') {
      const { kind, message, status, oauthError } = error
      await session.run('hold', () => lease.hold({ kind, message, status, oauthError }, longestSharedHoldMs))
    }
    throw error
  } finally {
    clearInterval(extension)
    await session.run('release', () => lease.release())
  }
}

/** The store's token, if it will do. @throws {TokenError} while the store holds a refusal */
async function lookUp(plan: FlightPlan, session: StoreSession, key: string): Promise<TokenLife | undefined> {
  if (plan.forced) return undefined
  const { settings } = plan
  const sent = readInstant(settings.clock)
  const entry = await session.run('read', (store) => store.read(key))
  if (entry === undefined) return undefined
  const life = 'id' in entry ? storedLife(entry, plan, sent) : undefined
  if (life && plan.accepts(life)) {
    const { number: flight, reason } = plan
    const durationMs = elapsedSince(plan.began, settings.clock)
    const remainingMs = life.lifetimeMs - elapsedSince(life.start, settings.clock)
    plan.emit({ type: 'token_received', flight, reason, attempt: 0, from: 'store', durationMs, remainingMs })
    return life
  }
  if ('heldForMs' in entry && entry.heldForMs > 0) {
    const error = new TokenError(entry.error)
    // The store ends this hold, or another secret does, whose key is another: each call looks again.
    onCredentialsChange(error, () => Promise.resolve(true))
    throw error
  }
  return undefined
}

/** Anchored at the moment the read was sent, so that a slow answer makes the token older, not younger. */
function storedLife(
  { id, response, remainingMs }: StoredToken,
  { settings }: FlightPlan,
  sent = readInstant(settings.clock),
) {
  const { lifetimeMs } = lifetimeOf(response, settings)
  const age = lifetimeMs - Math.min(remainingMs, lifetimeMs)
  const start = { wall: sent.wall - age, monotonic: sent.monotonic - age }
  return { ...createTokenLife(response, start, lifetimeMs, settings, id), arrivedWithMs: lifetimeMs }
}
