/// <reference lib="esnext.disposable" preserve="true" />
import { LruMap } from '../platform/lru-map.ts'
import { resolveSettings, type TokenProviderOptions } from '../acquire/provider-options.ts'
import { configurationError } from '../protocol/secure-url.ts'
import { CachingTokenProvider } from './caching-token-provider.ts'
import type { TokenProvider } from './token-provider.ts'
import type { TokenSource } from '../tokens/token-source.ts'

/** Token providers by key, such as one for each tenant. */
export interface TokenPool<Key extends string | number> {
  /** The key's provider, made when first asked for. Ask again for each use: the least recently asked for is forgotten. */
  for(key: Key): TokenProvider
  /** How many providers are kept. */
  readonly size: number
  /** Closes all of them. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Options of all providers of a pool. */
export interface TokenPoolOptions extends TokenProviderOptions {
  /** How many providers to keep; past that the least recently used is forgotten, and closes after its last call. @default 10_000 */
  readonly maxEntries?: number | undefined
}

/**
 * Keeps one provider for each key.
 *
 * @example
 * const pool = createTokenPool((tenant: string) => clientCredentials(credentialsOf(tenant)))
 * const { value } = await pool.for('acme').getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option
 */
export function createTokenPool<Key extends string | number>(
  create: (key: Key) => TokenSource,
  options: TokenPoolOptions = {},
): TokenPool<Key> {
  const { maxEntries = 10_000, ...providerOptions } = options
  if (!(maxEntries >= 1)) throw configurationError('maxEntries must be a number of at least 1')
  const settings = resolveSettings(providerOptions)
  const keepers = new LruMap<Key, CachingTokenProvider>()
  const forgotten = new Set<CachingTokenProvider>()
  let closed = false

  const forget = (keeper: CachingTokenProvider): void => {
    forgotten.add(keeper)
    void keeper.closeWhenIdle().then(() => forgotten.delete(keeper))
  }

  const pool: TokenPool<Key> = {
    for(key) {
      if (closed) throw configurationError('The token pool was closed')
      const known = keepers.use(key)
      if (known) return known
      const keeper = new CachingTokenProvider(create(key), settings)
      keepers.add(key, keeper)
      if (keepers.size > maxEntries) forget(keepers.shift()!)
      return keeper
    },
    get size() {
      return keepers.size
    },
    async close() {
      closed = true
      await Promise.all([...keepers.values(), ...forgotten].map((keeper) => keeper.close()))
    },
    [Symbol.asyncDispose]: () => pool.close(),
  }
  return pool
}
