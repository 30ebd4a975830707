/// <reference lib="esnext.disposable" preserve="true" />
import { resolveSettings, type TokenProviderOptions } from '../acquire/provider-options.ts'
import { LruMap } from '../runtime/lru-map.ts'
import { addListener, notifyListener } from '../runtime/listeners.ts'
import { configurationError, TokenError } from '../protocol/token-error.ts'
import type { TokenEventListener } from '../tokens/token-event.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import type { AttachableTokenProvider } from './attachable-token-provider.ts'
import { CachingTokenProvider } from './caching-token-provider.ts'
import { PooledTokenProvider, type ProviderPool } from './pooled-token-provider.ts'

/** Token providers by key, such as one for each tenant. */
export interface TokenPool<Key extends string | number> {
  /**
   * The key's provider. It can be kept: after an eviction, its next use requests a token again. Closed, it stays closed,
   * and the key gets another provider.
   */
  for(key: Key): AttachableTokenProvider
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
 * @param create called at the first use of a key; the caller gets its errors unchanged
 *
 * @example
 * const pool = createTokenPool((tenant: string) => clientCredentials(credentialsOf(tenant)))
 * const { value } = await pool.for('acme').getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createTokenPool<Key extends string | number>(
  create: (key: Key) => TokenSource | Promise<TokenSource>,
  options: TokenPoolOptions = {},
): TokenPool<Key> {
  const { maxEntries = 10_000, onEvent, ...providerOptions } = options
  if (!(maxEntries >= 1)) throw configurationError('maxEntries must be a number greater than or equal to 1.')
  const listeners = new Set<TokenEventListener>()
  const keyListeners = new Map<Key, Set<TokenEventListener>>()
  const settings = resolveSettings({
    ...providerOptions,
    onEvent(event) {
      void notifyListener(onEvent, event)
      listeners.forEach((listener) => void notifyListener(listener, event))
      keyListeners.get(event.key as Key)?.forEach((listener) => void notifyListener(listener, event))
    },
  })
  const entries = new LruMap<Key, PooledTokenProvider<Key>>()
  const creating = new Map<Key, Promise<CachingTokenProvider>>()
  const closing = new Set<CachingTokenProvider>()
  let closed = false

  const providers: ProviderPool<Key> = {
    provide(handle) {
      const { key } = handle
      checkOpen()
      const current = entries.use(key)
      // The key was evicted and created again since: both handles share the newer provider.
      if (current?.provider) return current.provider
      if (current === undefined) add(handle)
      const pending = creating.get(key)
      if (pending) return pending.then(() => providers.provide(handle))
      try {
        const source = create(key)
        return source instanceof Promise ? createLater(key, source) : start(key, source)
      } catch (error) {
        entries.delete(key)
        throw error
      }
    },
    listen(key, listener) {
      const set = keyListeners.get(key) ?? new Set()
      keyListeners.set(key, set)
      const remove = addListener(set, listener)
      return () => {
        if (remove() && set.size === 0) keyListeners.delete(key)
      }
    },
    async close(handle, options) {
      const { key, provider } = handle
      if (entries.use(key) === handle) entries.delete(key)
      if (provider) await retire(provider, () => provider.close(options))
    },
  }

  function checkOpen(): void {
    if (closed) throw new TokenError({ kind: 'aborted', message: 'The token pool was closed.' })
  }

  function start(key: Key, source: TokenSource): CachingTokenProvider {
    const provider = new CachingTokenProvider(source, settings, key)
    const entry = entries.use(key)
    // Evicted while the source was created: this provider serves its waiting callers only.
    if (entry) entry.provider = provider
    return provider
  }

  function createLater(key: Key, source: Promise<TokenSource>): Promise<CachingTokenProvider> {
    const provider = source
      .then(
        (created) => start(key, created),
        (error: unknown) => {
          entries.delete(key)
          throw error
        },
      )
      .finally(() => creating.delete(key))
    creating.set(key, provider)
    return provider
  }

  function add(handle: PooledTokenProvider<Key>): void {
    handle.provider = undefined
    entries.add(handle.key, handle)
    while (entries.size > maxEntries) {
      const oldest = entries.shift()!
      // Used through its handle since the last check: it stays.
      if (oldest.used || oldest === handle) {
        oldest.used = false
        entries.add(oldest.key, oldest)
      } else release(oldest)
    }
  }

  function release(handle: PooledTokenProvider<Key>): void {
    const { provider } = handle
    handle.provider = undefined
    if (provider) void retire(provider, () => provider.closeWhenIdle())
  }

  async function retire(provider: CachingTokenProvider, close: () => Promise<void>): Promise<void> {
    closing.add(provider)
    await close()
    closing.delete(provider)
  }

  const pool: TokenPool<Key> = {
    for(key) {
      checkOpen()
      const known = entries.use(key)
      if (known) return known
      const handle = new PooledTokenProvider(key, providers)
      add(handle)
      return handle
    },
    has: (key) => entries.has(key),
    delete(key) {
      const handle = entries.delete(key)
      if (handle) release(handle)
      return handle !== undefined
    },
    subscribe: (listener) => addListener(listeners, listener),
    get size() {
      return entries.size
    },
    async close() {
      closed = true
      const open = entries.values().flatMap(({ provider }) => provider ?? [])
      await Promise.all([...open, ...closing].map((provider) => provider.close()))
    },
    [Symbol.asyncDispose]: () => pool.close(),
  }
  return pool
}
