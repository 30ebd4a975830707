import type { AttachOptions } from '@tokenwell/core'
import { beforeEach } from 'vitest'
import type { ReceivedRequest } from '../servers/scripted-server.ts'
import { useTestServers, type TestServers } from '../servers/test-servers.ts'
import type { AdapterClient, AdapterRequest, AdapterUnderTest } from './adapter-under-test.ts'

/** Servers, the client with the adapter, and the plain client. */
export interface AdapterFixture extends TestServers {
  client: AdapterClient
  plain: AdapterClient
  /** A client with other options. */
  createClient(options?: Partial<AttachOptions>): Promise<AdapterClient>
  /** The outcome of a request in a form that allows comparing two clients. */
  outcomeOf(client: AdapterClient, request: AdapterRequest): Promise<object>
}

export function useAdapterFixture(adapter: AdapterUnderTest): AdapterFixture {
  const { comparableError = ({ name, message, code }) => ({ name, message, code }) } = adapter
  const fixture = Object.assign(useTestServers() as AdapterFixture, {
    createClient: async (options: Partial<AttachOptions> = {}) => {
      const { tokens, api } = fixture
      return adapter.createClient({ tokens, options: { allowedOrigins: [api.origin], ...options } })
    },
    outcomeOf: (client: AdapterClient, request: AdapterRequest) =>
      client(request).then(
        ({ status, text }) => ({ status, text }),
        (error: unknown) => comparableError(error as Error),
      ),
  })
  beforeEach(async () => {
    const [client, plain] = await Promise.all([fixture.createClient(), adapter.createClient()])
    Object.assign(fixture, { client, plain })
  })
  return fixture
}

/** Removes what differs between any two requests: the host's port, the boundary of a form, the token. */
export function comparable(requests: readonly ReceivedRequest[]): object[] {
  return requests.map(({ headers, body, ...request }) => {
    // Node's fetch encodes a redirected form again, but keeps its content type.
    const boundaries = [/boundary="?([^";]+)/.exec(headers['content-type'] ?? ''), /^--([^\r]+)\r/.exec(body)]
    const withoutBoundary = (text: string): string =>
      boundaries.reduce(
        (text, boundary) => (boundary ? text.replaceAll(boundary[1]!, 'BOUNDARY') : text),
        text,
      )
    const { host: _host, authorization: _token, connection: _connection, ...others } = headers
    const shown = Object.entries(others).map(([name, value]) => [name, withoutBoundary(String(value))])
    return { ...request, headers: Object.fromEntries(shown), body: withoutBoundary(body) }
  })
}
