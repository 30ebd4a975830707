import type { AttachOptions, TokenProvider } from '@tokenwell/core'
import type { RequestBody } from './request-body.ts'

/** A request as the suite wants it sent; the adapter's test puts it in its client's own words. */
export interface AdapterRequest {
  readonly url: string
  /** @default 'GET', or 'POST' with a body */
  readonly method?: string | undefined
  readonly headers?: Record<string, string> | undefined
  readonly body?: RequestBody | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  /** Opts out. */
  readonly token?: false | undefined
}

/** An answer, whether the client returned or threw it. */
export interface AdapterResult {
  readonly status: number
  readonly text: string
  /** What the application holds in its hands, and might log: the client's response, or its error. */
  readonly held: unknown
}

/** Resolves to every answer an API gives; rejects as the client does where none came. */
export type AdapterClient = (request: AdapterRequest) => Promise<AdapterResult>

/** A client that the suite can have with tokens and without. */
export interface AdapterUnderTest {
  readonly name: string
  /** With tokens attached, or bare. */
  createClient(attach?: {
    readonly tokens: TokenProvider
    readonly options: AttachOptions
  }): AdapterClient | Promise<AdapterClient>
  /** Kinds of bodies that the client does not take. */
  readonly cannotSend?: readonly RequestBody['kind'][]
  /** What two errors of the client have in common that mean the same. @default name, message and code */
  readonly essenceOf?: (error: Error & { readonly code?: unknown }) => object
  /** Whether an answer does not tell where it came from, after redirects. */
  readonly hidesAddress?: boolean
  /** The `TokenError` in what the client throws. */
  tokenErrorOf(error: unknown): unknown
}
