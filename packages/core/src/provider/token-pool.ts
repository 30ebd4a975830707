/// <reference lib="esnext.disposable" preserve="true" />
import { configurationError, TokenError } from '../protocol/token-error.ts'
import type { FirstRequest } from '../protocol/token-source.ts'
import { addListener, notifyListeners, type RunInContext } from '../runtime/listeners.ts'
import { LruMap } from '../runtime/lru-map.ts'
import { Redacted } from '../runtime/redacted.ts'
import { waitFor } from '../runtime/wait.ts'
import type { AccessToken } from './access-token.ts'
import { closedProvider } from './caching-token-provider.ts'
import type { TokenAttachmentEvent, TokenEvent, TokenEventListener } from './events.ts'
import { timeoutError } from './pending-request.ts'
import {
  checkProvider,
  resolveSettings,
  type CloseOptions,
  type GetTokenOptions,
  type RejectedRequest,
  type TokenProvider,
  type TokenProviderOptions,
} from './token-provider.ts'

/** Token providers by key, such as one for each tenant. */
export interface TokenPool<Key extends string | number> {
  /**
   * The key's provider. It can be kept: after an eviction, its next use requests a token again. Closed, it stays closed,
   * and the key gets another provider.
   */
  for(key: Key): TokenProvider
  /** Whether the key is in the pool. */
  has(key: Key): boolean
  /** Removes a key; its provider closes after its last call. Returns whether the key was in the pool. */
  delete(key: Key): boolean
  /** Calls `listener` with every event of every key; returns a function that removes the listener. */
  subscribe(listener: TokenEventListener): () => void
  /** Number of keys in the pool. */
  readonly size: number
  /** Closes all providers. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Options of a pool. What concerns the tokens of a key is an option of its provider. */
export interface TokenPoolOptions extends Pick<TokenProviderOptions, 'onEvent'> {
  /** Maximum number of keys; the least recently used is evicted, and its provider closes after its last call. @default 10_000 */
  readonly maxEntries?: number | undefined
  /** How long a call waits, in milliseconds, for a provider that is being created. @default 30_000 */
  readonly timeoutMs?: number | undefined
}

/**
 * Keeps one provider for each key. Its events carry the key.
 *
 * @param create creates a provider for a key, or promises one. Called at the first use of a key; the caller gets its errors
 * unchanged. A promise that does not settle within `timeoutMs` is abandoned: the next call begins anew
 *
 * @example
 * const pool = createTokenPool((tenant: string) => clientCredentials({ ...credentialsOf(tenant), store }))
 * const { value } = await pool.for('acme').getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createTokenPool<Key extends string | number>(
  create: (key: Key) => TokenProvider | PromiseLike<TokenProvider>,
  options: TokenPoolOptions = {},
): TokenPool<Key> {
  return new ProviderPool(create, options)
}

/** It may still be being created. */
type Provider = TokenProvider | Promise<TokenProvider>

class ProviderPool<Key extends string | number> implements TokenPool<Key> {
  readonly #create: (key: Key) => TokenProvider | PromiseLike<TokenProvider>
  readonly #maxEntries: number
  readonly #timeoutMs: number
  readonly #onEvent: TokenEventListener | undefined
  readonly #listeners = new Set<TokenEventListener>()
  readonly #keyListeners = new Map<Key, Set<TokenEventListener>>()
  readonly #entries = new LruMap<Key, PooledTokenProvider<Key>>()
  /** Providers of keys that have left the pool, until their last call has settled. */
  readonly #retired = new Set<TokenProvider>()
  #closed = false

  constructor(
    create: (key: Key) => TokenProvider | PromiseLike<TokenProvider>,
    { maxEntries = 10_000, timeoutMs, onEvent, ...others }: TokenPoolOptions,
  ) {
    if (!(maxEntries >= 1))
      throw configurationError('maxEntries must be a number greater than or equal to 1.')
    const [other] = Object.keys(others)
    if (other !== undefined)
      throw configurationError(`${other} is not an option of a pool. Set it for each provider in create.`)
    this.#create = create
    this.#maxEntries = maxEntries
    this.#timeoutMs = resolveSettings({ timeoutMs }).timeoutMs
    this.#onEvent = onEvent
  }

  for(key: Key): PooledTokenProvider<Key> {
    this.#checkOpen()
    return this.#entries.use(key) ?? this.#add(new PooledTokenProvider(key, this))
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  get size(): number {
    return this.#entries.size
  }

  delete(key: Key): boolean {
    const entry = this.#entries.delete(key)
    if (entry) this.#release(entry)
    return entry !== undefined
  }

  subscribe(listener: TokenEventListener): () => void {
    return addListener(this.#listeners, listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    const created = this.#entries.values().flatMap((entry) => entry.created ?? [])
    await Promise.all([...created, ...this.#retired].map((provider) => provider.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The provider of a handle's key, created if it is not there; makes the key known to the pool again. */
  provide(handle: PooledTokenProvider<Key>): Provider {
    this.#checkOpen()
    // The key may have been evicted and created again since: then both handles share the newer provider.
    const entry = this.#entries.use(handle.key) ?? this.#add(handle)
    if (entry.provider) return entry.provider
    const provider = this.#createProvider(entry)
    // `create` may itself use the pool, and evict the key.
    if (this.#entries.get(entry.key) === entry) entry.provider = provider
    else this.#retire(provider)
    return provider
  }

  #checkOpen(): void {
    if (this.#closed) throw new TokenError({ kind: 'aborted', message: 'The token pool was closed.' })
  }

  #createProvider(entry: PooledTokenProvider<Key>): Provider {
    const { key } = entry
    try {
      const created = this.#create(key)
      if (!isPromise(created)) return this.#start(key, created)
      const creating = Promise.resolve(created).then((provider) => this.#start(key, provider))
      // Unless the key has left the pool in the meantime: its calls get this provider all the same.
      const settle = (provider: TokenProvider | undefined): void => {
        if (entry.provider !== creating) return
        entry.provider = provider
        if (provider === undefined) this.#forget(entry)
      }
      creating.then(settle, () => settle(undefined))
      return creating
    } catch (error) {
      this.#forget(entry)
      throw error
    }
  }

  #start(key: Key, created: TokenProvider): TokenProvider {
    this.#checkOpen()
    const provider = checkProvider(created, 'create must return a token provider, or a promise of one.')
    provider.subscribe((event) => this.#emit({ ...event, key }))
    return provider
  }

  #emit(event: TokenEvent & { readonly key: Key }): RunInContext | undefined {
    const ofKey = this.#keyListeners.get(event.key) ?? []
    return notifyListeners([this.#onEvent, ...this.#listeners, ...ofKey], event)
  }

  /** Waits until a key's provider has been created, and then begins a call, before the provider can be closed. */
  async begin<Result>(
    key: Key,
    creating: Promise<TokenProvider>,
    signal: AbortSignal | undefined,
    call: (provider: TokenProvider) => Result,
  ): Promise<Awaited<Result>> {
    const abandon = (): Error => {
      const entry = this.#entries.get(key)
      // Its next use creates another one.
      if (entry?.provider === creating) {
        this.#forget(entry)
        this.#release(entry)
      }
      return timeoutError(this.#timeoutMs)
    }
    return await waitFor(creating, this.#timeoutMs, signal, abandon).then(call)
  }

  #add(entry: PooledTokenProvider<Key>): PooledTokenProvider<Key> {
    this.#entries.set(entry.key, entry)
    while (this.#entries.size > this.#maxEntries) {
      const oldest = this.#entries.shift()!
      // Used through its handle since the last check: it stays.
      if (oldest.used || oldest === entry) {
        oldest.used = false
        this.#entries.set(oldest.key, oldest)
      } else this.#release(oldest)
    }
    return entry
  }

  #forget(entry: PooledTokenProvider<Key>): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key)
  }

  /** Closes the provider of an entry that has left the pool, once its calls have settled. */
  #release(entry: PooledTokenProvider<Key>): void {
    const { provider } = entry
    entry.provider = undefined
    if (provider) this.#retire(provider)
  }

  /** Closes a provider once its calls have settled. Those that wait until it is created begin before this continues. */
  #retire(provider: Provider): void {
    if (isPromise(provider)) {
      provider.then(
        (created) => this.#retire(created),
        () => {},
      )
    } else {
      this.#retired.add(provider)
      const begun = Promise.resolve().then(() => {})
      begun
        .then(() => provider.close({ whenIdle: true }))
        .catch(() => {})
        .finally(() => this.#retired.delete(provider))
    }
  }

  async closeEntry(entry: PooledTokenProvider<Key>, options: CloseOptions | undefined): Promise<void> {
    const { provider } = entry
    this.#forget(entry)
    this.#release(entry)
    if (provider && !isPromise(provider)) await provider.close(options)
  }

  listen(key: Key, listener: TokenEventListener): () => void {
    const listeners = this.#keyListeners.get(key) ?? new Set()
    this.#keyListeners.set(key, listeners)
    const remove = addListener(listeners, listener)
    return () => {
      if (remove() && listeners.size === 0) this.#keyListeners.delete(key)
    }
  }
}

/** One of another realm is one, too. */
function isPromise<Of extends PromiseLike<TokenProvider>>(value: TokenProvider | Of): value is Of {
  return typeof (value as Partial<Of> | undefined)?.then === 'function'
}

/** One key of a pool. It keeps working after the key was evicted: its next use creates a provider again. */
class PooledTokenProvider<Key extends string | number> extends Redacted implements TokenProvider {
  readonly key: Key
  readonly #pool: ProviderPool<Key>
  /** Set while the key is in the pool and has been used. */
  provider: Provider | undefined
  /** Set by each use but the first; the pool evicts keys that have not been used since its last check. */
  used = false
  #closed = false

  constructor(key: Key, pool: ProviderPool<Key>) {
    super()
    this.key = key
    this.#pool = pool
  }

  getToken(options?: GetTokenOptions): Promise<AccessToken> {
    const provider = this.created
    if (provider === undefined) return this.#call((created) => created.getToken(options), options?.signal)
    this.used = true
    return provider.getToken(options)
  }

  /** Begins a call at once, or as soon as the provider has been created: an eviction in between does not affect it. */
  async #call<Result>(
    call: (provider: TokenProvider) => Result,
    signal?: AbortSignal,
  ): Promise<Awaited<Result>> {
    this.#checkOpen()
    const provider = this.provider ?? this.#pool.provide(this)
    if (!isPromise(provider)) return await call(provider)
    return this.#pool.begin(this.key, provider, signal, (created) => {
      this.#checkOpen()
      return call(created)
    })
  }

  #checkOpen(): void {
    if (this.#closed) throw new TokenError(closedProvider)
  }

  /** Its provider, once it has been created. */
  get created(): TokenProvider | undefined {
    const { provider } = this
    return provider === undefined || isPromise(provider) ? undefined : provider
  }

  peekToken(): AccessToken | undefined {
    return this.created?.peekToken()
  }

  reject(token: AccessToken | string): void {
    this.#call((provider) => provider.reject(token)).catch(() => {})
  }

  replaceRejected(token: AccessToken, request: RejectedRequest): Promise<AccessToken | undefined> {
    return this.#call((provider) => provider.replaceRejected(token, request), request.signal)
  }

  reset(): void {
    this.created?.reset()
  }

  subscribe(listener: TokenEventListener): () => void {
    return this.#pool.listen(this.key, listener)
  }

  async revoke(): Promise<void> {
    await this.created?.revoke()
  }

  close(options?: CloseOptions): Promise<void> {
    this.#closed = true
    return this.#pool.closeEntry(this, options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  toJSON(): object {
    return { key: this.key, provider: this.created }
  }

  report(event: TokenAttachmentEvent): void {
    this.created?.report(event)
  }

  sendFirst<Result>(request: FirstRequest<Result>): Promise<Result | undefined> | undefined {
    const { created } = this
    if (created) return created.sendFirst?.(request)
    return this.#call((provider) => provider.sendFirst?.(request), request.signal)
  }

  reportSuccess(urlOf: () => string | URL): void {
    this.created?.reportSuccess?.(urlOf)
  }
}
