import {
  createMemoryTokenStore,
  createTokenProvider,
  type TokenEvent,
  type TokenProviderOptions,
} from '@tokenwell/core'
import { ScriptedEndpoint, type Script } from '../../support/scripted-endpoint.ts'
import { keyedSource } from './keyed-source.ts'

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
