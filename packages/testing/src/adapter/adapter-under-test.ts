import type { AttachOptions, TokenProvider } from '@tokenwell/core'
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
    readonly tokens: TokenProvider
    readonly options: AttachOptions
  }): AdapterClient | Promise<AdapterClient>
  /** Kinds of bodies that the client cannot send. @default none */
  readonly cannotSend?: readonly RequestBody['kind'][]
  /** What two errors of the client with the same meaning have in common. @default name, message and code */
  readonly comparableError?: (error: Error & { readonly code?: unknown }) => object
  /** Finds the `TokenError` in an error of the client. */
  tokenErrorOf(error: unknown): unknown
}
