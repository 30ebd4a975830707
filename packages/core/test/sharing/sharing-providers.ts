import {
  type TokenSource,
  createMemoryTokenStore,
  createTokenProvider,
  type TokenEvent,
  type TokenProviderOptions,
  type TokenStore,
} from '@tokenwell/core'
import type { TokenLease } from '@tokenwell/core/adapter'
import { sourceOf, ScriptedEndpoint, type Script } from '../support/scripted-endpoint.ts'

/** A source whose cache key needs no digest, which would take real time. */
export function keyedSource(
  endpoint: ScriptedEndpoint,
  cacheKey = (): Promise<string> => Promise.resolve('key'),
) {
  const { requestToken } = bound(sourceOf(endpoint))
  return { cacheKey, requestToken } satisfies TokenSource
}

function bound(source: TokenSource): Pick<TokenSource, 'requestToken'> {
  return { requestToken: (context) => source.requestToken(context) }
}

/** Providers of one key that share a store, as the processes of a fleet do. */
export function fleet(size: number, script: Script = {}, options: TokenProviderOptions = {}) {
  const endpoint = new ScriptedEndpoint(script)
  const store = createMemoryTokenStore()
  const events: TokenEvent[] = []
  const onEvent = (event: TokenEvent): void => void events.push(event)
  const providers = Array.from({ length: size }, () =>
    createTokenProvider(keyedSource(endpoint), { ...options, store, onEvent }),
  )
  return { endpoint, store, events, providers, first: providers[0]!, second: providers[1]! }
}

export const forever = (): Promise<never> => new Promise(() => {})
export const failing = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('canary'), { code: 'ECONNRESET' }))
export const throwing = (): never => {
  throw new TypeError('canary')
}

/** A memory store with some operations replaced, of the store and of its leases. */
export function storeWith(
  changes: Partial<TokenStore & TokenLease>,
  memory = createMemoryTokenStore(),
): TokenStore {
  const lease: TokenStore['lease'] = async (key, ttlMs) => {
    const granted = await memory.lease(key, ttlMs)
    return granted && { ...granted, ...changes }
  }
  return { ...memory, lease, ...changes }
}

export function startWith(store: TokenStore, script: Script = {}, options: TokenProviderOptions = {}) {
  const endpoint = new ScriptedEndpoint(script)
  const events: TokenEvent[] = []
  const tokens = createTokenProvider(keyedSource(endpoint), {
    store,
    onEvent: (event) => events.push(event),
    ...options,
  })
  return { endpoint, events, tokens }
}
