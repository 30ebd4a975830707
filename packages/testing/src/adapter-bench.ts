import { createTokenProvider, type AttachOptions, type TokenEvent, type TokenProvider } from '@tokenwell/core'
import { afterEach, beforeEach } from 'vitest'
import type { AdapterClient, AdapterRequest, AdapterUnderTest } from './adapter-under-test.ts'
import { startProtectedApi, type ProtectedApi } from './protected-api.ts'
import type { SeenRequest } from './scripted-server.ts'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

/** What each test of an adapter has: servers of its own, and a client with their tokens. */
export interface AdapterBench {
  endpoint: TokenEndpoint
  /** The one place where tokens may go. */
  api: ProtectedApi
  /** Another origin. */
  other: ProtectedApi
  tokens: TokenProvider
  events: TokenEvent[]
  client: AdapterClient
  bare: AdapterClient
  /** A client with options of its own. */
  createClient(options?: Partial<AttachOptions>): Promise<AdapterClient>
  /** What became of a request, in a form that two clients' outcomes can be compared in. */
  outcomeOf(client: AdapterClient, request: AdapterRequest): Promise<object>
}

export function useAdapterBench(adapter: AdapterUnderTest): AdapterBench {
  const { essenceOf = ({ name, message, code }) => ({ name, message, code }) } = adapter
  const outcomeOf: AdapterBench['outcomeOf'] = (client, request) =>
    client(request).then(
      ({ status, text }) => ({ status, text }),
      (error: unknown) => essenceOf(error as Error),
    )
  const bench = { outcomeOf } as AdapterBench
  beforeEach(async () => {
    const [endpoint, api, other] = await Promise.all([
      startTokenEndpoint(),
      startProtectedApi(),
      startProtectedApi(),
    ])
    const events: TokenEvent[] = []
    const tokens = createTokenProvider(endpoint.source, { onEvent: (event) => void events.push(event) })
    const createClient = async (options: Partial<AttachOptions> = {}): Promise<AdapterClient> =>
      adapter.createClient({ tokens, options: { allowedOrigins: [api.origin], ...options } })
    const [client, bare] = await Promise.all([createClient(), adapter.createClient()])
    Object.assign(bench, { endpoint, api, other, tokens, events, createClient, client, bare })
  })
  afterEach(async () => {
    await bench.tokens.close()
    await Promise.all([bench.endpoint, bench.api, bench.other].map((server) => server.close()))
  })
  return bench
}

/** Requests without what differs between any two: the host's port, the boundary of a form, the token. */
export function comparable(requests: readonly SeenRequest[]): object[] {
  return requests.map(({ headers, body, ...request }) => {
    // Node's fetch makes the body of a redirected form anew, but not its content type.
    const boundaries = [/boundary="?([^";]+)/.exec(headers['content-type'] ?? ''), /^--([^\r]+)\r/.exec(body)]
    const bare = (text: string): string =>
      boundaries.reduce(
        (text, boundary) => (boundary ? text.replaceAll(boundary[1]!, 'BOUNDARY') : text),
        text,
      )
    const { host: _host, authorization: _token, connection: _connection, ...others } = headers
    const shown = Object.entries(others).map(([name, value]) => [name, bare(String(value))])
    return { ...request, headers: Object.fromEntries(shown), body: bare(body) }
  })
}
