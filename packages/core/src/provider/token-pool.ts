/// <reference lib="esnext.disposable" preserve="true" />
import { configurationError, TokenError } from '../protocol/token-error.ts'
import { addListener, notifyListener } from '../runtime/listeners.ts'
import { LruMap } from '../runtime/lru-map.ts'
import { Redacted } from '../runtime/redacted.ts'
import type { TokenSource } from '../sources/token-source.ts'
import type { AccessToken } from './access-token.ts'
import { CachingTokenProvider, closedProvider } from './caching-token-provider.ts'
import type { TokenAttachmentEvent, TokenEventListener } from './events.ts'
import {
  resolveSettings,
  type CloseOptions,
  type GetTokenOptions,
  type ProviderSettings,
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

/** Options of all providers of a pool. Events carry the key. */
export interface TokenPoolOptions extends TokenProviderOptions {
  /** Maximum number of keys; the least recently used is evicted, and its provider closes after its last call. @default 10_000 */
  readonly maxEntries?: number | undefined
}

/**
 * Keeps one provider for each key.
 *
 * @param create returns the source of a key's tokens, or a promise of it. Called at the first use of a key; the caller gets
 * its errors unchanged
 *
 * @example
 * const pool = createTokenPool((tenant: string) => clientCredentials(credentialsOf(tenant)))
 * const { value } = await pool.for('acme').getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createTokenPool<Key extends string | number>(
  create: (key: Key) => TokenSource | PromiseLike<TokenSource>,
  options: TokenPoolOptions = {},
): TokenPool<Key> {
  return new ProviderPool(create, options)
}

/** Its source may still be being created. */
type Provider = CachingTokenProvider | Promise<CachingTokenProvider>

class ProviderPool<Key extends string | number> implements TokenPool<Key> {
  readonly #create: (key: Key) => TokenSource | PromiseLike<TokenSource>
  readonly #maxEntries: number
  readonly #settings: ProviderSettings
  readonly #listeners = new Set<TokenEventListener>()
  readonly #keyListeners = new Map<Key, Set<TokenEventListener>>()
  readonly #entries = new LruMap<Key, PooledTokenProvider<Key>>()
  /** Providers of keys that have left the pool, until their last call has settled. */
  readonly #retired = new Set<CachingTokenProvider>()
  #closed = false

  constructor(
    create: (key: Key) => TokenSource | PromiseLike<TokenSource>,
    { maxEntries = 10_000, onEvent, ...options }: TokenPoolOptions,
  ) {
    if (!(maxEntries >= 1))
      throw configurationError('maxEntries must be a number greater than or equal to 1.')
    this.#create = create
    this.#maxEntries = maxEntries
    this.#settings = resolveSettings({
      ...options,
      onEvent: (event) => {
        const ofKey = this.#keyListeners.get(event.key as Key) ?? []
        for (const listener of [onEvent, ...this.#listeners, ...ofKey]) void notifyListener(listener, event)
      },
    })
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
    const open = this.#entries.values().flatMap(({ provider }) => provider ?? [])
    const created = open.filter((provider) => provider instanceof CachingTokenProvider)
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
      const source = this.#create(key)
      if (!isThenable(source)) return this.#start(key, source)
      const creating = Promise.resolve(source).then((created) => this.#start(key, created))
      // Unless the key has left the pool in the meantime: its calls get this provider all the same.
      const settle = (provider: CachingTokenProvider | undefined): void => {
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

  #start(key: Key, source: TokenSource): CachingTokenProvider {
    this.#checkOpen()
    if (typeof source?.requestToken !== 'function') {
      throw configurationError(
        'create must return a token source, such as clientCredentials({ … }), or a promise of one.',
      )
    }
    return new CachingTokenProvider(source, this.#settings, key)
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

  /** Of an entry that has left the pool. */
  #release(entry: PooledTokenProvider<Key>): void {
    const { provider } = entry
    entry.provider = undefined
    if (provider) this.#retire(provider)
  }

  /** Closes a provider once its calls have settled. Those that wait for its source begin before this continues. */
  #retire(provider: Provider): void {
    if (provider instanceof CachingTokenProvider) {
      this.#retired.add(provider)
      void Promise.resolve()
        .then(() => provider.closeWhenIdle())
        .then(() => this.#retired.delete(provider))
    } else {
      provider.then(
        (created) => this.#retire(created),
        () => {},
      )
    }
  }

  async closeEntry(entry: PooledTokenProvider<Key>, options: CloseOptions | undefined): Promise<void> {
    const { provider } = entry
    this.#forget(entry)
    this.#release(entry)
    if (provider instanceof CachingTokenProvider) await provider.close(options)
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

function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof (value as Partial<PromiseLike<Value>> | undefined)?.then === 'function'
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
    const { provider } = this
    if (!(provider instanceof CachingTokenProvider)) return this.#call((created) => created.getToken(options))
    this.used = true
    return provider.getToken(options)
  }

  /** Begins a call at once, or as soon as the source has been created: an eviction in between does not affect it. */
  async #call<Result>(call: (provider: CachingTokenProvider) => Result): Promise<Awaited<Result>> {
    this.#checkOpen()
    const provider = this.provider ?? this.#pool.provide(this)
    if (provider instanceof CachingTokenProvider) return await call(provider)
    return await provider.then((created) => {
      this.#checkOpen()
      return call(created)
    })
  }

  #checkOpen(): void {
    if (this.#closed) throw new TokenError(closedProvider)
  }

  get #created(): CachingTokenProvider | undefined {
    return this.provider instanceof CachingTokenProvider ? this.provider : undefined
  }

  peekToken(): AccessToken | undefined {
    return this.#created?.peekToken()
  }

  reject(token: AccessToken): void {
    this.#call((provider) => provider.reject(token)).catch(() => {})
  }

  replaceRejected(token: AccessToken, request: RejectedRequest): Promise<AccessToken | undefined> {
    return this.#call((provider) => provider.replaceRejected(token, request))
  }

  reset(): void {
    this.#created?.reset()
  }

  subscribe(listener: TokenEventListener): () => void {
    return this.#pool.listen(this.key, listener)
  }

  async revoke(): Promise<void> {
    await this.#created?.revoke()
  }

  close(options?: CloseOptions): Promise<void> {
    this.#closed = true
    return this.#pool.closeEntry(this, options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  toJSON(): object {
    return { key: this.key, ...this.#created?.toJSON() }
  }

  report(event: TokenAttachmentEvent): void {
    this.#created?.report(event)
  }
}
