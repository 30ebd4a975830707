import { createMemoryTokenStore, type TokenProvider, type TokenStore } from '@tokenwell/core'

/** A store that records under which keys its tokens are looked up. */
export function observeKeys(
  store = createMemoryTokenStore(),
): TokenStore & { readonly keys: ReadonlySet<string> } {
  const keys = new Set<string>()
  const read: TokenStore['read'] = (key) => {
    keys.add(key)
    return store.read(key)
  }
  return { ...store, read, keys }
}

/** The cache key of a provider's tokens. */
export async function cacheKeyOf(create: (store: TokenStore) => TokenProvider): Promise<string> {
  const { keys, ...store } = observeKeys()
  await create(store).getToken()
  return [...keys][0]!
}
