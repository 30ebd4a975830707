import type { CachedToken } from '../cached-token.ts'
import { cooldownMsOf, sharedCooldownOf } from '../cooldown.ts'
import { requestWithRetries, type AcquireContext, type ProviderContext } from '../request-with-retries.ts'
import { onAbort } from '../../runtime/abort.ts'
import { errorCode } from '../../runtime/error-code.ts'
import { sleep, waitFor } from '../../runtime/timers.ts'
import { isTokenError, messageWithoutReason, type TokenError } from '../../protocol/token-error.ts'
import type { TokenLease, TokenStore } from '../../tokens/token-store.ts'
import { isShared, readStoredToken } from './read-stored-token.ts'
import { slowStoreError, StoreOperations } from './store-operations.ts'

const leaseMs = 5_000
/** How often waiting processes try to take the lease, which its holder may have released early. */
const leaseAttemptMs = 100
/** A pause before a retry that is at least this long is shared with the other processes. */
const sharedPauseMs = 1_000

/**
 * Gets a token through a store: the stored one, or a new one, requested by the process that holds the lease. If the
 * store fails, the token is requested without it.
 */
export async function acquireSharedToken(context: AcquireContext, store: TokenStore): Promise<CachedToken> {
  const key = await resolveKey(context)
  if (key === undefined) return (await requestWithRetries(context)).cached
  for (;;) {
    const operations = new StoreOperations(store, key, context)
    try {
      const shared = (await readStoredToken(context, operations)) ?? (await leaseOrWait(context, operations))
      return shared ?? (await requestWithRetries(context)).cached
    } catch (error) {
      await waitOutThrottling(error, context)
    }
  }
}

/**
 * Waits out a rate limit that another process met, as a process without a store waits out its own.
 *
 * @throws any other error
 */
async function waitOutThrottling(
  error: unknown,
  { deadline, settings, signal, expectProgress }: AcquireContext,
) {
  const pauseMs = isTokenError(error) && error.kind === 'throttled' ? sharedCooldownOf(error)?.ms : undefined
  if (pauseMs === undefined || pauseMs >= deadline - settings.clock.monotonic()) throw error
  expectProgress(pauseMs)
  await sleep(pauseMs, signal)
}

/** Removes an entry that an API rejected from the store. Never fails. */
export async function removeSharedToken(
  { source, settings, emit }: ProviderContext,
  store: TokenStore,
  id: string,
): Promise<void> {
  try {
    const key = await source.cacheKey()
    // Nobody waits for it.
    const operations = new StoreOperations(store, key, { settings, emit, expectProgress: () => {} })
    await operations.run('remove', () => store.remove(key, id))
  } catch {
    // This provider remembers the token; other processes find out for themselves that it is rejected.
  }
}

/** Undefined if the source cannot compute it; its token request then reports why. */
async function resolveKey({ source, settings, signal, emit }: AcquireContext): Promise<string | undefined> {
  try {
    return await waitFor(source.cacheKey(), settings.attemptTimeoutMs, signal, slowStoreError)
  } catch (error) {
    signal.throwIfAborted()
    emit({ type: 'store_unavailable', operation: 'cacheKey', cause: errorCode(error) })
    return undefined
  }
}

function takeLease(operations: StoreOperations, slot?: 'fallback'): Promise<TokenLease | undefined> {
  return operations.run(
    'lease',
    async (store, key) => {
      const lease = await store.lease(key, leaseMs, slot)
      if (lease && typeof lease.write !== 'function')
        throw Object.assign(new Error(), { code: 'invalid_lease' })
      return lease ?? undefined
    },
    (lease) => lease?.release(),
  )
}

/** Undefined if the store fails; the token is then requested without it. */
async function leaseOrWait(
  context: AcquireContext,
  operations: StoreOperations,
): Promise<CachedToken | undefined> {
  const lease = await takeLease(operations)
  if (lease) return acquireUnderLease(context, operations, lease)
  if (operations.unavailable) return undefined
  context.onWaitForOthers()
  return waitForHolder(context, operations)
}

/**
 * Reads the store until the holder has written its token. If the holder takes long, one waiting process at a time
 * requests a token as well, so a holder that hangs costs a few requests, not one for each process.
 */
async function waitForHolder(
  context: AcquireContext,
  operations: StoreOperations,
): Promise<CachedToken | undefined> {
  const { clock, timeoutMs } = context.settings
  const controller = new AbortController()
  const stopForwarding = onAbort(context.signal, () => controller.abort(context.signal.reason))
  const own = { ...context, signal: controller.signal }
  const start = clock.monotonic()
  // Nobody waits for a background refresh, so it can wait until the lease expires.
  const fallbackAfterMs =
    context.reason === 'refresh_ahead'
      ? Number.POSITIVE_INFINITY
      : jitter(Math.min(5_000, Math.max(250, timeoutMs / 6)))
  let fallback: Promise<CachedToken> | undefined
  let attemptAtMs = jitter(leaseAttemptMs)
  try {
    for (;;) {
      const waitedMs = clock.monotonic() - start
      // Often at first, for fast endpoints; then at the pace of slow ones.
      const pauseMs = jitter(Math.min(200, Math.max(10, waitedMs / 5)))
      context.expectProgress(pauseMs + 1_000)
      const pause = sleep(pauseMs, own.signal)
      const token = await (fallback ? Promise.race([pause, fallback]) : pause)
      if (token) return token
      const stored = await readStoredToken(context, operations)
      if (stored) return stored
      if (fallback === undefined && waitedMs >= attemptAtMs) {
        attemptAtMs = waitedMs + jitter(leaseAttemptMs)
        const lease =
          (await takeLease(operations)) ??
          (waitedMs > fallbackAfterMs ? await takeLease(operations, 'fallback') : undefined)
        if (lease) fallback = acquireUnderLease(own, operations, lease)
      }
      // Awaited here, because the code below would cancel it.
      if (operations.unavailable) return await fallback
    }
  } finally {
    stopForwarding()
    controller.abort(context.signal.reason)
  }
}

function jitter(ms: number): number {
  return ms * (0.75 + Math.random() / 2)
}

async function acquireUnderLease(
  context: AcquireContext,
  operations: StoreOperations,
  lease: TokenLease,
): Promise<CachedToken> {
  const extend = async (): Promise<unknown> => lease.extend(leaseMs)
  const extension = setInterval(() => void extend().catch(() => {}), leaseMs / 3)
  // Callers do not wait for the remaining work on the store.
  const finish = (work?: () => Promise<unknown>): void =>
    context.afterwards(async () => {
      await work?.()
      clearInterval(extension)
      // Even if the store is unavailable: the other processes should not have to wait until the lease expires.
      if (operations.unavailable) await waitFor(lease.release(), leaseMs, undefined, () => undefined)
      else await operations.run('release', () => lease.release())
    })
  const share = (error: TokenError, ms: number): Promise<unknown> => {
    const { kind, status, oauthError, vendorCode, retryAfterMs } = error
    const failure = {
      kind,
      message: messageWithoutReason(error),
      status,
      oauthError,
      vendorCode,
      retryAfterMs,
      failures: context.failures + 1,
    }
    return operations.run('cooldown', () => lease.writeCooldown(failure, ms))
  }
  try {
    // Another process may have written a token after our read and before our lease.
    const stored = await readStoredToken(context, operations)
    const { cached, response } = stored
      ? { cached: stored }
      : await requestWithRetries(context, (error, pauseMs) => {
          if (pauseMs >= sharedPauseMs) context.afterwards(() => share(error, pauseMs))
        })
    finish(
      response &&
        (async () => {
          cached.storeId = await operations.run('write', () => lease.write(response, cached.lifetimeMs))
        }),
    )
    return cached
  } catch (error) {
    const sharedMs = isTokenError(error) && isShared(error) ? cooldownMsOf(error, context.failures + 1) : 0
    finish(sharedMs > 0 ? () => share(error as TokenError, jitter(sharedMs)) : undefined)
    throw error
  }
}
