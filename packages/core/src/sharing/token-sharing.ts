import { cooldownMsOf } from '../protocol/backoff.ts'
import { isTokenError, messageWithoutReason, type TokenError } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import { readInstant, type Instant } from '../runtime/clock.ts'
import { errorCode } from '../runtime/error-code.ts'
import { onAbort, sleep, waitFor } from '../runtime/wait.ts'
import { isShared, slowStoreError, StoreOperations, type StoreUser } from './store-operations.ts'
import {
  SharedFailure,
  type StoredToken,
  type TokenLease,
  type TokenSharing,
  type TokenStore,
} from './token-store.ts'

const leaseMs = 5_000
/** From then on, waiting processes try to take the lease, which its holder may have released without a token. */
const leaseAttemptAfterMs = 250
/** From then on, or up to half as long later, one waiting process at a time requests a token as well. */
const fallbackAfterMs = 1_000
/** Shorter than any cooldown, so that waiting processes do not miss the one of a holder that failed. */
const longestReadPauseMs = 500
/** A pause that the server demands is shared if it is at least this long. */
const sharedPauseMs = 1_000

/** How a provider keeps a token that may be in its store. */
interface StorableToken {
  /** The ID of its entry in the store. */
  storeId: string | undefined
}

/** A token that the source has issued for this request. */
export interface IssuedToken<Token> {
  readonly cached: Token
  /** The response with its secrets, for the store. */
  readonly response: TokenResponse
  readonly lifetimeMs: number
}

/** One token request of a provider with a store. */
export interface StoreRequest<Token extends StorableToken> extends StoreUser {
  readonly signal: AbortSignal
  /** When it must have settled, by the monotonic clock. */
  readonly deadline: number
  /** Whether the token in the store is ignored. */
  readonly forced: boolean
  /** False for a refresh ahead of time, which nobody waits for. */
  readonly isHurried: boolean
  /** Failures in a row before this request. */
  readonly failures: number
  /** Set once another process is requesting the token. */
  waitedForOthers: boolean
  /** Promises progress within `ms`; callers stop waiting for a request that breaks this promise. */
  expectProgress(ms: number): void
  /** Runs work that callers do not wait for. */
  afterwards(work: () => Promise<unknown>): void
  /** The token of an entry, unless the provider needs another one. */
  accept(entry: StoredToken, readAt: Instant): Token | undefined
  /** @throws {TokenError} */
  requestFromSource(
    signal: AbortSignal,
    onRetry?: (error: TokenError, pauseMs: number) => void,
  ): Promise<IssuedToken<Token>>
}

/** What {@link tokenSharing} is. */
export interface SharingAlgorithm {
  /** Gets a token through a store: the stored one, or a new one. @throws {TokenError} */
  acquire<Token extends StorableToken>(request: StoreRequest<Token>, store: TokenStore): Promise<Token>
  /** Removes an entry that an API rejected from the store. Never fails. */
  remove(user: StoreUser, store: TokenStore, id: string): Promise<void>
}

const algorithm: SharingAlgorithm = { acquire, remove }

/** How providers share tokens through a store: one process requests a token, and the others wait for it. For authors of stores. */
export const tokenSharing = algorithm as unknown as TokenSharing

/**
 * Gets a token through a store: the stored one, or a new one, requested by the process that holds the lease. If the
 * store fails, the token is requested without it.
 */
async function acquire<Token extends StorableToken>(
  request: StoreRequest<Token>,
  store: TokenStore,
): Promise<Token> {
  const { signal } = request
  const key = await resolveKey(request)
  if (key === undefined) return (await request.requestFromSource(signal)).cached
  const operations = new StoreOperations(store, key, request)
  for (;;) {
    try {
      const stored = await read(request, operations)
      if (stored) return stored
      const lease = await operations.lease(leaseMs)
      if (lease) return await requestUnderLease(request, operations, lease, signal)
      if (operations.paused) return (await request.requestFromSource(signal)).cached
      request.waitedForOthers = true
      return await waitForHolder(request, operations)
    } catch (error) {
      await waitOut(error, request)
    }
  }
}

/** Undefined if the source cannot compute it; its token request then reports why. */
async function resolveKey({
  source,
  settings,
  signal,
  emit,
}: StoreRequest<StorableToken>): Promise<string | undefined> {
  try {
    return await waitFor(
      source.cacheKey(),
      settings.attemptTimeoutMs,
      signal,
      slowStoreError,
      undefined,
      false,
    )
  } catch (error) {
    signal.throwIfAborted()
    emit({ type: 'store_unavailable', operation: 'cacheKey', cause: errorCode(error) })
    return undefined
  }
}

/** The stored token, if it is accepted. @throws {SharedFailure} during a stored cooldown */
async function read<Token extends StorableToken>(
  request: StoreRequest<Token>,
  operations: StoreOperations,
): Promise<Token | undefined> {
  if (request.forced) return undefined
  const readAt = readInstant(request.settings.clock)
  const { token, failure } = await operations.read()
  const accepted = token && request.accept(token, readAt)
  if (!accepted && failure) throw failure
  return accepted
}

async function requestUnderLease<Token extends StorableToken>(
  request: StoreRequest<Token>,
  operations: StoreOperations,
  lease: TokenLease,
  signal: AbortSignal,
): Promise<Token> {
  const { failures } = request
  const extend = async (): Promise<unknown> => lease.extend(leaseMs)
  const extension = setInterval(() => void extend().catch(() => {}), leaseMs / 3)
  // The timer does not keep a program running that has nothing else to do.
  ;(extension as { unref?(): void }).unref?.()
  // Callers do not wait for the remaining work on the store.
  const finish = (work?: () => Promise<unknown>): void =>
    request.afterwards(async () => {
      await work?.()
      clearInterval(extension)
      await operations.release(lease, leaseMs)
    })
  const share = (error: TokenError, ms: number): Promise<unknown> => {
    const { kind, status, oauthError, vendorCode, retryAfterMs } = error
    const facts = { kind, status, oauthError, vendorCode, retryAfterMs }
    const failure = { ...facts, message: messageWithoutReason(error), failures: failures + 1 }
    return operations.writeCooldown(lease, failure, ms)
  }
  try {
    // Another process may have written a token after our read and before our lease.
    const stored = await read(request, operations)
    if (stored) {
      finish()
      return stored
    }
    const { cached, response, lifetimeMs } = await request.requestFromSource(signal, (error, pauseMs) => {
      if (error.retryAfterMs && pauseMs >= sharedPauseMs) request.afterwards(() => share(error, pauseMs))
    })
    finish(async () => {
      cached.storeId = await operations.write(lease, response, lifetimeMs)
    })
    return cached
  } catch (error) {
    // The failure of another process is shared already, with its own number of failures.
    const isOwn = isTokenError(error) && !(error instanceof SharedFailure)
    const sharedMs = isOwn && isShared(error) ? cooldownMsOf(error, failures + 1) : 0
    finish(sharedMs > 0 ? () => share(error as TokenError, jitter(sharedMs)) : undefined)
    throw error
  }
}

/**
 * Reads the store until the holder of the lease has written its token. If the holder takes long, one waiting process at a
 * time requests a token as well, so a holder that hangs costs a few requests, not one for each process.
 */
async function waitForHolder<Token extends StorableToken>(
  request: StoreRequest<Token>,
  operations: StoreOperations,
): Promise<Token> {
  const { settings, signal, isHurried } = request
  const { clock, timeoutMs } = settings
  const controller = new AbortController()
  const stopForwarding = onAbort(signal, () => controller.abort(signal.reason))
  // Nobody waits for a background refresh: it reads less often, and waits until the lease is free.
  const shortestMs = isHurried ? 60 : longestReadPauseMs
  const fallbackMs = isHurried
    ? Math.min(fallbackAfterMs, Math.max(250, timeoutMs / 6)) * (1 + Math.random() / 2)
    : Number.POSITIVE_INFINITY
  const start = clock.monotonic()
  let fallback: Promise<Token> | undefined
  try {
    for (;;) {
      const waitedMs = clock.monotonic() - start
      // In proportion to the time waited, and to the remaining time: few reads however slow the endpoint is.
      const leftMs = Math.max(0, request.deadline - clock.monotonic())
      const pauseMs = jitter(Math.min(longestReadPauseMs, leftMs / 4, Math.max(shortestMs, 0.65 * waitedMs)))
      request.expectProgress(pauseMs + 1_000)
      const pause = sleep(pauseMs, controller.signal)
      const token = await (fallback ? Promise.race([pause, fallback]) : pause)
      const found = token ?? (await read(request, operations))
      if (found) return found
      if (fallback === undefined && waitedMs + pauseMs >= leaseAttemptAfterMs) {
        const lease =
          (await operations.lease(leaseMs)) ??
          (waitedMs + pauseMs >= fallbackMs ? await operations.lease(leaseMs, 'fallback') : undefined)
        if (lease) fallback = requestUnderLease(request, operations, lease, controller.signal)
      }
      // Awaited here, because the code below would cancel it.
      if (operations.paused)
        return await (fallback ?? request.requestFromSource(signal).then(({ cached }) => cached))
    }
  } finally {
    stopForwarding()
    controller.abort(signal.reason)
  }
}

/**
 * Waits out a pause that the server demanded from another process, as a process without a store waits out its own.
 *
 * @throws any other error
 */
async function waitOut(error: unknown, request: StoreRequest<StorableToken>): Promise<void> {
  const isPause =
    error instanceof SharedFailure && (error.kind === 'throttled' || error.retryAfterMs !== undefined)
  if (!isPause || error.cooldownMs >= request.deadline - request.settings.clock.monotonic()) throw error
  request.expectProgress(error.cooldownMs)
  await sleep(error.cooldownMs, request.signal)
}

async function remove(user: StoreUser, store: TokenStore, id: string): Promise<void> {
  try {
    const key = await user.source.cacheKey()
    await new StoreOperations(store, key, user).remove(id)
  } catch {
    // This provider remembers the token; other processes find out for themselves that it is rejected.
  }
}

function jitter(ms: number): number {
  return ms * (0.75 + Math.random() / 2)
}
