import type { FetchLike } from '../sources/send-token-request.ts'
import type { TokenProvider } from '../provider/token-provider.ts'
import { createTokenAttacher } from './create-token-attacher.ts'
import { isRequest, OutgoingRequest, type TokenFetchInit } from './outgoing-request.ts'
import { copyHeaders, hasHeader, withHeaders } from './request-headers.ts'
import {
  lastAttachment,
  type AttacherInternals,
  type Attachment,
  type AttachOptions,
  type TokenAttacher,
} from './token-attacher.ts'

/** `fetch` with tokens attached. */
export type TokenFetch = (input: string | URL | Request, init?: TokenFetchInit | null) => Promise<Response>

const defaultReplayBytes = 1024 * 1024

/**
 * Wraps `fetch`: requests to the allowed origins carry a token, and a request whose token was rejected is sent once
 * more with a new one. For this, the body of a `Request` is kept, up to `maxReplayBytes`; a body that is a stream is
 * sent once, and the caller gets the 401.
 *
 * @example
 * const apiFetch = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'] })
 * await apiFetch('https://api.example.com/v1/orders')
 *
 * @throws {TokenError} of kind `configuration`, naming the option; if no token is available, a call sends nothing and
 * rejects with a TokenError
 */
export function createTokenFetch(
  tokens: TokenProvider,
  options: AttachOptions & { readonly fetch?: FetchLike | undefined },
): TokenFetch {
  const attacher = createTokenAttacher(tokens, options)
  const { fetch: custom, maxReplayBytes } = options
  // Looked up at each call, so that a fetch replaced by instrumentation or by a test is used.
  const send: FetchLike = (input, init) => (custom ?? globalThis.fetch)(input, init)
  return (input, init) => fetchWithToken(attacher, send, input, init, maxReplayBytes)
}

/** Sends one request through an attacher, as {@link createTokenFetch} does; for authors of adapters. */
export function fetchWithToken(
  attacher: TokenAttacher,
  fetch: FetchLike,
  input: string | URL | Request,
  init?: TokenFetchInit | null,
  maxReplayBytes = defaultReplayBytes,
): Promise<Response> {
  if (attacher.followsRedirects && hasOnlyHeaders(init)) {
    const request = isRequest(input) && input.body === null && !input.signal?.aborted ? input : undefined
    const url = request ? request.url : input
    const attachment = typeof url === 'string' && (attacher as AttacherInternals)[lastAttachment]?.(url)
    if (attachment) return fetchPlainly(attacher, fetch, request ?? url, init, attachment)
  }
  return fetchAnything(attacher, fetch, input, init, maxReplayBytes)
}

function hasOnlyHeaders(init: TokenFetchInit | null | undefined): boolean {
  for (const name in init) if (name !== 'headers') return false
  return true
}

/** The common call, in half the time of others: besides its headers, the caller can change nothing later. */
async function fetchPlainly(
  attacher: TokenAttacher,
  fetch: FetchLike,
  input: string | Request,
  init: TokenFetchInit | null | undefined,
  attachment: Attachment,
): Promise<Response> {
  const own = copyHeaders(init?.headers ?? (typeof input === 'string' ? undefined : input.headers))
  if (own && !attacher.replaceHeader && hasHeader(own, attacher.header)) return fetch(input, { headers: own })
  const headers = withHeaders(attachment.headers, own)
  const response = await fetch(input, { headers })
  if (response.status < 400 && !attacher.checksEveryResponse) return response
  return fetchAnything(attacher, fetch, input, { headers }, 0, attachment, response)
}

/** @param response of a first attempt with this attachment, if there was one */
async function fetchAnything(
  attacher: TokenAttacher,
  fetch: FetchLike,
  input: string | URL | Request,
  init: TokenFetchInit | null | undefined,
  maxReplayBytes: number,
  attachment?: Attachment,
  response?: Response,
): Promise<Response> {
  const { header, replaceHeader, followsRedirects, checksEveryResponse } = attacher
  // Everything is read here, before the first await.
  const request = new OutgoingRequest(input, init, maxReplayBytes)
  if (response === undefined) {
    if (request.optedOut || (!replaceHeader && hasHeader(request.headers, header))) {
      return request.send(fetch, undefined, followsRedirects)
    }
    const found = attacher.attach(request, request.signal)
    attachment = found instanceof Promise ? await found : found
  }
  for (;;) {
    response ??= await request.send(fetch, attachment, followsRedirects)
    const { isBound, isReplacement } = attachment ?? {}
    if (response.status < 400 && !checksEveryResponse && !isBound && !isReplacement) return response
    await request.bodySettled()
    const next = await attacher.retryAttachment(
      request,
      attachment,
      response,
      request.repeatable,
      request.signal,
    )
    if (next === undefined) return response
    // Frees the connection.
    void response.body?.cancel?.().catch(() => {})
    response = undefined
    attachment = next
  }
}
