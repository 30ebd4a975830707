import type { FetchLike } from '../sources/send.ts'
import { discardBody, readBodyStart } from './body.ts'
import { OutgoingRequest, type TokenFetchInit } from './fetch-arguments.ts'
import { sendFollowingRedirects, type FollowedResponse } from './follow-redirects.ts'
import { createBaseUrlJoin } from './origins.ts'
import {
  createTokenAttacher,
  type AttachableTokens,
  type AttachOptions,
  type SentRequest,
  type TokenAttacher,
} from './token-attacher.ts'

/** `fetch` with tokens attached. */
export type TokenFetch = (input: string | URL | Request, init?: TokenFetchInit | null) => Promise<Response>

/** Options of {@link createTokenFetch}. */
export interface TokenFetchOptions extends AttachOptions {
  /**
   * The URL that a path is appended to. Without `allowedOrigins`, tokens are sent to its origin. A function is called with the
   * first request, so that a module can be loaded without its environment, as in a build.
   */
  readonly baseUrl?: string | URL | (() => string | URL | undefined) | undefined
  /** Sends the requests. @default the global fetch, looked up at each request */
  readonly fetch?: FetchLike | undefined
}

/**
 * Wraps `fetch`: requests to the allowed origins carry a token, and a request whose token was rejected is sent once
 * more with a new one. For this, and for redirects, the body of a `Request` is kept, up to 16 MiB. With a body of a
 * `Request` over 1 MiB, or one that is a stream, the request is not repeated, and the caller gets the 401.
 *
 * @example
 * const api = createTokenFetch(clientCredentials(credentialsFrom(process.env)), { baseUrl: 'https://api.example.com' })
 * await api('/v1/orders')
 *
 * @throws {TokenError} of kind `configuration`, naming the option; if no token is available, a call sends nothing and
 * rejects with a TokenError
 */
export function createTokenFetch(tokens: AttachableTokens, options: TokenFetchOptions): TokenFetch {
  const { fetch: given, baseUrl } = options ?? {}
  const prepare = () => {
    const base = { option: 'baseUrl', url: typeof baseUrl === 'function' ? baseUrl() : baseUrl }
    return { attacher: createTokenAttacher(tokens, options, base), join: createBaseUrlJoin(base) }
  }
  let prepared = typeof baseUrl === 'function' ? undefined : prepare()
  function fetchJoined(fetch: FetchLike, ...[input, init]: Parameters<TokenFetch>): Promise<Response> {
    try {
      const { attacher, join } = (prepared ??= prepare())
      return fetchWithToken(attacher, fetch, join(input), init)
    } catch (error) {
      // Like `fetch`, it never throws.
      return Promise.reject(error)
    }
  }
  if (given) return (input, init) => fetchJoined(given, input, init)
  const atCreation = globalThis.fetch
  let isSending = false
  // Looked up at each call, so that a fetch replaced by instrumentation or by a test is used.
  function send(input: string | Request, init: MarkedInit): Promise<Response> {
    const { fetch } = globalThis
    if (globalFetches.has(fetch)) return atCreation(input, init)
    isSending = true
    try {
      return fetch(input, init)
    } finally {
      isSending = false
    }
  }
  const tokenFetch = (input: string | URL | Request, init?: MarkedInit | null): Promise<Response> => {
    const { [sentThrough]: earlier = [] } = init ?? {}
    // The global fetch calls this one: instrumentation has wrapped it, which may wait before the call or replace the options.
    if (isSending || earlier.includes(tokenFetch)) return atCreation(input, init ?? undefined)
    const mark = { [sentThrough]: [...earlier, tokenFetch] }
    return fetchJoined((url, sent) => send(url as string, { ...sent, ...mark }), input, init)
  }
  globalFetches.add(tokenFetch)
  return tokenFetch
}

/** Those that a request has passed on its way through the global fetch. A copy of the options keeps the symbol. */
const sentThrough = Symbol('tokenwell.sentThrough')

type MarkedInit = TokenFetchInit & { readonly [sentThrough]?: readonly unknown[] }

/** Those that send with the global fetch, which a program may replace by one of them. */
const globalFetches = new WeakSet<object>()

/** What an adapter knows of a body. */
export interface FetchWithTokenOptions {
  /** Whether the body of a `Request` is kept, up to 16 MiB; false for a stream, which would be read ahead. @default true */
  readonly keepsBody?: boolean | undefined
  /** Whether a request with a body is sent once more when its token was rejected. @default true */
  readonly repeatsBody?: boolean | undefined
}

/** Sends one request through an attacher, as {@link createTokenFetch} does; for authors of adapters. */
export async function fetchWithToken(
  attacher: TokenAttacher,
  fetch: FetchLike,
  input: string | URL | Request,
  init?: TokenFetchInit | null,
  { keepsBody = true, repeatsBody = true }: FetchWithTokenOptions = {},
): Promise<Response> {
  // Everything is read here, before the first await.
  const options = { header: attacher.header, keepsBody, repeatsBody }
  let request = new OutgoingRequest(input, init, options)
  if (request.optedOut) return request.send(fetch, undefined, undefined)
  return attacher.send(request, request.signal, async (attachment) => {
    const followed = await sendFollowingRedirects(request, input, attachment, fetch)
    request = followed.request
    return new FetchedResponse(followed)
  })
}

class FetchedResponse implements SentRequest<Response> {
  readonly result: Response
  readonly status: number
  readonly request: OutgoingRequest
  readonly hasToken: boolean
  /** After a redirect that `fetch` followed, the response may be one to another method. */
  readonly #mayBeOther: boolean

  constructor({ response, request, hasToken }: FollowedResponse) {
    this.result = response
    this.status = response.status
    this.request = request
    this.hasToken = hasToken
    this.#mayBeOther = response.redirected && !/^(?:GET|HEAD)$/i.test(request.method)
    if (request.redirects > 0)
      Object.defineProperty(response, 'redirected', { value: true, configurable: true })
  }

  get headers(): Headers {
    return this.result.headers
  }

  get url(): string {
    return this.result.url
  }

  readBody(): Promise<string | undefined> {
    return readBodyStart(this.result)
  }

  async isRepeatable(): Promise<boolean> {
    await this.request.bodySettled()
    return this.request.repeatable && !this.#mayBeOther
  }

  discard(): void {
    discardBody(this.result)
  }
}
