import { resolveSettings, type TokenProviderOptions } from './provider-settings.ts'
import { configurationError } from './secure-url.ts'
import { TokenKeeper } from './token-keeper.ts'
import type { TokenProvider } from './token-provider.ts'
import type { TokenSource } from './token-source.ts'

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
  // In the order of use: a Map keeps the order of insertion.
  const keepers = new Map<Key, TokenKeeper>()
  let closed = false

  const pool: TokenPool<Key> = {
    for(key) {
      if (closed) throw configurationError('The token pool was closed')
      let keeper = keepers.get(key)
      if (keeper === undefined) keeper = new TokenKeeper(create(key), settings)
      else keepers.delete(key)
      keepers.set(key, keeper)
      if (keepers.size > maxEntries) {
        const [oldest] = keepers.keys()
        const forgotten = keepers.get(oldest!)!
        keepers.delete(oldest!)
        void forgotten.closeWhenIdle()
      }
      return keeper
    },
    get size() {
      return keepers.size
    },
    async close() {
      closed = true
      await Promise.all([...keepers.values()].map((keeper) => keeper.close()))
      keepers.clear()
    },
    [Symbol.asyncDispose]: () => pool.close(),
  }
  return pool
}
