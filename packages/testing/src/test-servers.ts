import { createTokenProvider, type TokenEvent, type TokenProvider } from '@tokenwell/core'
import { afterEach, beforeEach } from 'vitest'
import { startProtectedApi, type ProtectedApi } from './protected-api.ts'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

/** What each test of an adapter has: servers of its own, and a provider of their tokens. */
export interface TestServers {
  endpoint: TokenEndpoint
  /** The one place where tokens may go. */
  api: ProtectedApi
  /** Another origin. */
  other: ProtectedApi
  tokens: TokenProvider
  events: TokenEvent[]
}

export function useTestServers(): TestServers {
  const servers = {} as TestServers
  beforeEach(async () => {
    const [endpoint, api, other] = await Promise.all([
      startTokenEndpoint(),
      startProtectedApi(),
      startProtectedApi(),
    ])
    const events: TokenEvent[] = []
    const tokens = createTokenProvider(endpoint.source, { onEvent: (event) => void events.push(event) })
    Object.assign(servers, { endpoint, api, other, tokens, events })
  })
  afterEach(async () => {
    await servers.tokens.close()
    await Promise.all([servers.endpoint, servers.api, servers.other].map((server) => server.close()))
  })
  return servers
}
