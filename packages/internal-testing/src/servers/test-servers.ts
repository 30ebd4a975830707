import { createTokenProvider, type TokenEvent, type TokenProvider } from '@tokenwell/core'
import { afterEach, beforeEach } from 'vitest'
import { startProtectedApi, type ProtectedApi } from './protected-api.ts'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

/** The servers of one test, and a provider of their tokens. */
export interface TestServers {
  endpoint: TokenEndpoint
  /** The API that tokens may be sent to. */
  api: ProtectedApi
  /** An API at another origin. */
  other: ProtectedApi
  tokens: TokenProvider
  /** The provider's events so far. */
  events: TokenEvent[]
}

/** Starts a token endpoint, two APIs and a token provider before each test, and closes them after it. */
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
