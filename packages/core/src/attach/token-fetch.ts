import { createTokenAttacher, type Attachment, type AttachOptions } from './token-attacher.ts'
import { isRepeatableBody } from './repeatable-body.ts'
import type { FetchLike } from '../sources/send-token-request.ts'
import type { TokenProvider } from '../provider/token-provider.ts'

/** Options of one request: those of `fetch`, and `token: false` to send it without a token. */
export interface TokenRequestInit extends Omit<RequestInit, 'duplex'> {
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
    const found = attacher.attach(request?.url ?? (input as string | URL), signal)
    const attachment = found instanceof Promise ? await found : found
    if (attachment === undefined) return send(input, init)
    if (!attacher.followsRedirects && (init.redirect ?? request?.redirect) !== 'error')
      init.redirect = 'manual'
    const sendWith = (attachment: Attachment) =>
      send(input, { ...init, headers: withHeader(attachment, init.headers ?? request?.headers) })
    const response = await sendWith(attachment)
    if (response.status < 400) return response
    // Some browsers do not show the body of a Request.
    const bodiless = !request || request.body === null || /^(?:GET|HEAD)$/.test(request.method)
    const repeatable = init.body === undefined ? bodiless : isRepeatableBody(init.body)
    const next = await attacher.reattach(attachment, response, repeatable, signal)
    if (next === undefined) return response
    // Frees the connection.
    response.body?.cancel().catch(() => {})
    return sendWith(next)
  }
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
