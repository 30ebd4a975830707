import type { AttachOptions } from '@tokenwell/core'
import { beforeEach } from 'vitest'
import type { AdapterClient, AdapterRequest, AdapterUnderTest } from './adapter-under-test.ts'
import type { SeenRequest } from './scripted-server.ts'
import { useTestServers, type TestServers } from './test-servers.ts'

/** Servers, and clients with and without their tokens. */
export interface AdapterBench extends TestServers {
  client: AdapterClient
  bare: AdapterClient
  /** A client with options of its own. */
  createClient(options?: Partial<AttachOptions>): Promise<AdapterClient>
  /** What became of a request, in a form that two clients' outcomes can be compared in. */
  outcomeOf(client: AdapterClient, request: AdapterRequest): Promise<object>
}

export function useAdapterBench(adapter: AdapterUnderTest): AdapterBench {
  const { essenceOf = ({ name, message, code }) => ({ name, message, code }) } = adapter
  const bench = Object.assign(useTestServers() as AdapterBench, {
    createClient: async (options: Partial<AttachOptions> = {}) => {
      const { tokens, api } = bench
      return adapter.createClient({ tokens, options: { allowedOrigins: [api.origin], ...options } })
    },
    outcomeOf: (client: AdapterClient, request: AdapterRequest) =>
      client(request).then(
        ({ status, text }) => ({ status, text }),
        (error: unknown) => essenceOf(error as Error),
      ),
  })
  beforeEach(async () => {
    const [client, bare] = await Promise.all([bench.createClient(), adapter.createClient()])
    Object.assign(bench, { client, bare })
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
