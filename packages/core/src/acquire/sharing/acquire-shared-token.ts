import { isTokenError, messageWithoutReason, type TokenError } from '../../protocol/token-error.ts'
import { onAbort } from '../../runtime/abort.ts'
import { errorCode } from '../../runtime/error-code.ts'
import { sleep, waitFor } from '../../runtime/timers.ts'
import type { CachedToken } from '../cached-token.ts'
import { cooldownMsOf, SharedFailure } from '../cooldown.ts'
import { requestWithRetries, type AcquireContext, type ProviderContext } from '../request-with-retries.ts'
import { isShared, readStoredToken } from './read-stored-token.ts'
import { slowStoreError, StoreOperations } from './store-operations.ts'
import type { TokenLease, TokenSharing, TokenStore } from './token-store.ts'

const leaseMs = 5_000
/** From then on, waiting processes try to take the lease, which its holder may have released without a token. */
const leaseAttemptAfterMs = 250
/** From then on, or up to half as long later, one waiting process at a time requests a token as well. */
const fallbackAfterMs = 1_000
/** Shorter than any cooldown, so that waiting processes do not miss the one of a holder that failed. */
const longestReadPauseMs = 500
/** A pause that the server demands is shared if it is at least this long. */
const sharedPauseMs = 1_000

/** How providers share tokens through a store: one process requests a token, and the others wait for it. For authors of stores. */
export const tokenSharing: TokenSharing = { acquire: acquireSharedToken, remove: removeSharedToken }

/**
 * Gets a token through a store: the stored one, or a new one, requested by the process that holds the lease. If the
 * store fails, the token is requested without it.
 */
async function acquireSharedToken(context: AcquireContext, store: TokenStore): Promise<CachedToken> {
  const key = await resolveKey(context)
  if (key === undefined) return (await requestWithRetries(context)).cached
  const operations = new StoreOperations(store, key, context)
  for (;;) {
    try {
      const stored = await readStoredToken(context, operations)
      if (stored) return stored
      const lease = await takeLease(operations)
      if (lease) return await acquireUnderLease(context, operations, lease)
      if (operations.paused) return (await requestWithRetries(context)).cached
      context.request.waitedForOthers = true
      return await waitForHolder(context, operations)
    } catch (error) {
      await waitOut(error, context)
    }
  }
}

/**
 * Waits out a pause that the server demanded from another process, as a process without a store waits out its own.
 *
 * @throws any other error
 */
async function waitOut(error: unknown, { settings, request, signal }: AcquireContext): Promise<void> {
  const isPause =
    error instanceof SharedFailure && (error.kind === 'throttled' || error.retryAfterMs !== undefined)
  if (!isPause || error.cooldownMs >= request.deadline - settings.clock.monotonic()) throw error
  request.expectProgress(error.cooldownMs)
  await sleep(error.cooldownMs, signal)
}

/** Removes an entry that an API rejected from the store. Never fails. */
async function removeSharedToken(context: ProviderContext, store: TokenStore, id: string): Promise<void> {
  try {
    const key = await context.source.cacheKey()
    await new StoreOperations(store, key, context).run('remove', () => store.remove(key, id))
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

/** Undefined while another process has it, or if the store fails. */
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

/**
 * Reads the store until the holder has written its token. If the holder takes long, one waiting process at a time
 * requests a token as well, so a holder that hangs costs a few requests, not one for each process.
 */
async function waitForHolder(context: AcquireContext, operations: StoreOperations): Promise<CachedToken> {
  const { request, settings, signal } = context
  const { clock, timeoutMs } = settings
  const controller = new AbortController()
  const stopForwarding = onAbort(signal, () => controller.abort(signal.reason))
  const own = { ...context, signal: controller.signal }
  // Nobody waits for a background refresh: it reads less often, and waits until the lease is free.
  const isHurried = request.options.reason !== 'refresh_ahead'
  const shortestMs = isHurried ? 60 : longestReadPauseMs
  const fallbackMs = isHurried
    ? Math.min(fallbackAfterMs, Math.max(250, timeoutMs / 6)) * (1 + Math.random() / 2)
    : Number.POSITIVE_INFINITY
  const start = clock.monotonic()
  let fallback: Promise<CachedToken> | undefined
  try {
    for (;;) {
      const waitedMs = clock.monotonic() - start
      // In proportion to the time waited, and to the remaining time: few reads however slow the endpoint is.
      const leftMs = Math.max(0, request.deadline - clock.monotonic())
      const pauseMs = jitter(Math.min(longestReadPauseMs, leftMs / 4, Math.max(shortestMs, 0.65 * waitedMs)))
      request.expectProgress(pauseMs + 1_000)
      const pause = sleep(pauseMs, own.signal)
      const token = await (fallback ? Promise.race([pause, fallback]) : pause)
      const found = token ?? (await readStoredToken(context, operations))
      if (found) return found
      if (fallback === undefined && waitedMs + pauseMs >= leaseAttemptAfterMs) {
        const lease =
          (await takeLease(operations)) ??
          (waitedMs + pauseMs >= fallbackMs ? await takeLease(operations, 'fallback') : undefined)
        if (lease) fallback = acquireUnderLease(own, operations, lease)
      }
      // Awaited here, because the code below would cancel it.
      if (operations.paused)
        return await (fallback ?? requestWithRetries(context).then(({ cached }) => cached))
    }
  } finally {
    stopForwarding()
    controller.abort(signal.reason)
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
  const { afterwards, failures } = context
  const extend = async (): Promise<unknown> => lease.extend(leaseMs)
  const extension = setInterval(() => void extend().catch(() => {}), leaseMs / 3)
  // Callers do not wait for the remaining work on the store.
  const finish = (work?: () => Promise<unknown>): void =>
    afterwards(async () => {
      await work?.()
      clearInterval(extension)
      // Even if the store is paused: the other processes should not have to wait until the lease expires.
      if (operations.paused) await waitFor(lease.release(), leaseMs, undefined, () => undefined)
      else await operations.run('release', () => lease.release())
    })
  const share = (error: TokenError, ms: number): Promise<unknown> => {
    const { kind, status, oauthError, vendorCode, retryAfterMs } = error
    const facts = { kind, status, oauthError, vendorCode, retryAfterMs }
    const failure = { ...facts, message: messageWithoutReason(error), failures: failures + 1 }
    return operations.run('cooldown', () => lease.writeCooldown(failure, ms))
  }
  try {
    // Another process may have written a token after our read and before our lease.
    const stored = await readStoredToken(context, operations)
    const { cached, response } = stored
      ? { cached: stored }
      : await requestWithRetries(context, (error, pauseMs) => {
          if (error.retryAfterMs && pauseMs >= sharedPauseMs) afterwards(() => share(error, pauseMs))
        })
    finish(
      response &&
        (async () => {
          cached.storeId = await operations.run('write', () => lease.write(response, cached.lifetimeMs))
        }),
    )
    return cached
  } catch (error) {
    const sharedMs = isTokenError(error) && isShared(error) ? cooldownMsOf(error, failures + 1) : 0
    finish(sharedMs > 0 ? () => share(error as TokenError, jitter(sharedMs)) : undefined)
    throw error
  }
}
