import {
  createMemoryTokenStore,
  createTokenProvider,
  type TokenEvent,
  type TokenLease,
  type TokenStore,
} from '@tokenwell/core'
import { ScriptedEndpoint, type Script } from '../scripted-endpoint.ts'
import { keyedSource } from './keyed-source.ts'

export const forever = (): Promise<never> => new Promise(() => {})
export const failing = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('canary'), { code: 'ECONNRESET' }))
export const throwing = (): never => {
  throw new TypeError('canary')
}

/** A memory store in which some operations, of the store or of its leases, are others. */
export function sick(changes: Partial<TokenStore & TokenLease>): TokenStore {
  const memory = createMemoryTokenStore()
  const lease: TokenStore['lease'] = async (key, ttlMs) => {
    const held = await memory.lease(key, ttlMs)
    return held && { ...held, ...changes }
  }
  return { ...memory, lease, ...changes }
}

export function startWith(store: TokenStore, script: Script = {}) {
  const endpoint = new ScriptedEndpoint(script)
  const events: TokenEvent[] = []
  const tokens = createTokenProvider(keyedSource(endpoint), { store, onEvent: (event) => events.push(event) })
  return { endpoint, events, tokens }
}
