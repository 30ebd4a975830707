import {
  createMemoryTokenStore,
  createTokenProvider,
  type TokenEvent,
  type TokenProviderOptions,
  type TokenStore,
} from '@tokenwell/core'
import type { TokenLease } from '@tokenwell/core/store'
import { ScriptedEndpoint, type Script } from '../../support/scripted-endpoint.ts'
import { keyedSource } from './keyed-source.ts'

export const forever = (): Promise<never> => new Promise(() => {})
export const failing = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('canary'), { code: 'ECONNRESET' }))
export const throwing = (): never => {
  throw new TypeError('canary')
}

/** A memory store with some operations replaced, of the store and of its leases. */
export function storeWith(changes: Partial<TokenStore & TokenLease>): TokenStore {
  const memory = createMemoryTokenStore()
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
