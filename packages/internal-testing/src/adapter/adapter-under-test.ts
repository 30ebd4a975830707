import { beforeEach } from 'vitest'
import type { AttachableTokens, AttachOptions } from '@tokenwell/core'
import type { ReceivedRequest } from '../servers/scripted-server.ts'
import { useTestServers, type TestServers } from '../servers/test-servers.ts'
import type { RequestBody } from './request-body.ts'

/** A request of the suite. The test of an adapter translates it into a call to its HTTP client. */
export interface AdapterRequest {
  readonly url: string
  /** @default 'GET', or 'POST' with a body */
  readonly method?: string | undefined
  readonly headers?: Record<string, string> | undefined
  readonly body?: RequestBody | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  /** `false`: this request opts out of the token. */
  readonly token?: false | undefined
}

/** A response, whether the client returned it or threw it. */
export interface AdapterResult {
  readonly status: number
  readonly text: string
  /** What the application receives and may log: the client's response or its error. */
  readonly received: unknown
}

/** Resolves for every response, with any status; rejects as the client does without a response. */
export type AdapterClient = (request: AdapterRequest) => Promise<AdapterResult>

/** An HTTP client, with an adapter and without one. */
export interface AdapterUnderTest {
  readonly name: string
  /** Creates a client that attaches tokens, or, without an argument, the plain client. */
  createClient(attach?: {
    readonly tokens: AttachableTokens
    readonly options: AttachOptions
  }): AdapterClient | Promise<AdapterClient>
  /** Kinds of bodies that the client cannot send. @default none */
  readonly cannotSend?: readonly RequestBody['kind'][]
  /** What two errors of the client with the same meaning have in common. @default name, message and code */
  readonly comparableError?: (error: Error & { readonly code?: unknown }) => object
  /** Finds the `TokenError` in an error of the client. */
  tokenErrorOf(error: unknown): unknown
}

/** Servers, the client with the adapter, and the plain client. */
export interface AdapterFixture extends TestServers {
  client: AdapterClient
  plain: AdapterClient
  /** A client with other options. */
  createClient(options?: AttachOptions): Promise<AdapterClient>
  /** The outcome of a request in a form that allows comparing two clients. */
  outcomeOf(client: AdapterClient, request: AdapterRequest): Promise<object>
}

export function useAdapterFixture(adapter: AdapterUnderTest): AdapterFixture {
  const { comparableError = ({ name, message, code }) => ({ name, message, code }) } = adapter
  const fixture = Object.assign(useTestServers() as AdapterFixture, {
    createClient: async (options: AttachOptions = {}) => {
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
