import { createTokenAttacher, type Attachment, type AttachOptions } from './token-attacher.ts'
import { readStart } from './read-start.ts'
import type { FetchLike } from './send-token-request.ts'
import type { TokenProvider } from './token-provider.ts'

/** Options of one request: those of `fetch`, and `token: false` to send it without a token. */
export interface TokenRequestInit extends RequestInit {
  readonly token?: false | undefined
  /** Required by Node for a body that is a stream. */
  readonly duplex?: 'half' | undefined
}

/** `fetch`, with tokens attached. */
export type TokenFetch = (input: string | URL | Request, init?: TokenRequestInit) => Promise<Response>

/**
 * Wraps `fetch`: requests to the allowed origins carry a token, and one whose token was refused is sent
 * once more with a new one if its body can be. A body that is a stream, and that of a `Request`, is sent
 * once; the caller then gets the 401.
 *
 * @example
 * const apiFetch = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'] })
 * await apiFetch('https://api.example.com/v1/orders')
 *
 * @throws {TokenError} of kind `configuration`, naming the option; each call throws one when no token can be
 * had, and has then sent nothing
 */
export function createTokenFetch(
  tokens: TokenProvider,
  options: AttachOptions & { readonly fetch?: FetchLike | undefined },
): TokenFetch {
  const attacher = createTokenAttacher(tokens, options)
  const { fetch: custom } = options
  // Looked up at each call, so that a fetch replaced by instrumentation or a test's interceptor is used.
  const send: FetchLike = (input, init) => (custom ?? globalThis.fetch)(input, init)

  return async (input, { token, ...init } = {}) => {
    const request = typeof input === 'string' || input instanceof URL ? undefined : input
    if (token === false || carriesHeader(attacher.header, init.headers ?? request?.headers)) {
      return send(input, init)
    }
    const signal = init.signal ?? request?.signal
    const attachment = await attacher.attach(absolute(request?.url ?? (input as string | URL)), signal)
    if (attachment === undefined) return send(input, init)
    if (!attacher.followsRedirects) init.redirect = 'manual'
    const sendWith = (attachment: Attachment) =>
      send(input, { ...init, headers: withHeader(attachment, init.headers ?? request?.headers) })
    const response = await sendWith(attachment)
    if (response.status < 400) return response
    const { status, headers } = response
    const repeatable = request?.body ? false : isRepeatable(init.body)
    const answer = { status, headers, readBody: () => readStart(response) }
    const next = await attacher.reattach(attachment, answer, repeatable, signal)
    if (next === undefined) return response
    // Frees the connection.
    response.body?.cancel().catch(() => {})
    return sendWith(next)
  }
}

/** Pages may give addresses relative to their own. */
function absolute(url: string | URL): string | URL {
  if (typeof url !== 'string' || /^https?:\/\//.test(url)) return url
  const base = (globalThis as { document?: { baseURI?: string } }).document?.baseURI
  return base !== undefined && URL.canParse(url, base) ? new URL(url, base) : url
}

function carriesHeader(name: string, headers: HeadersInit | undefined): boolean {
  if (headers === undefined) return false
  const lowerCase = name.toLowerCase()
  if (typeof (headers as Headers).has === 'function') return (headers as Headers).has(name)
  const names = Array.isArray(headers) ? headers.map(([name]) => name) : Object.keys(headers)
  return names.some((name) => name?.toLowerCase() === lowerCase)
}

/** A copy: the caller's own headers are never changed. */
function withHeader({ header, value }: Attachment, headers: HeadersInit | undefined): HeadersInit {
  if (headers === undefined) return { [header]: value }
  if (isRecord(headers)) return { ...headers, [header]: value }
  const copy = new Headers(headers)
  copy.set(header, value)
  return copy
}

function isRecord(headers: HeadersInit): headers is Record<string, string> {
  return !(Symbol.iterator in headers)
}

/** Whether a body can be sent a second time: a stream or an iterator is spent by the first. */
function isRepeatable(body: unknown): boolean {
  return (
    body === undefined ||
    body === null ||
    typeof body === 'string' ||
    ArrayBuffer.isView(body) ||
    [ArrayBuffer, URLSearchParams, Blob, FormData].some((type) => body instanceof type)
  )
}
