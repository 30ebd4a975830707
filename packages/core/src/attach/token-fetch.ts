import type { TokenProvider } from '../provider/token-provider.ts'
import { runsInBrowser } from '../runtime/environment.ts'
import type { FetchLike } from '../sources/send-token-request.ts'
import { createTokenAttacher } from './create-token-attacher.ts'
import { followRedirect, maxRedirects, networkError, readRedirect, type Redirect } from './follow-redirect.ts'
import { OutgoingRequest, type TokenFetchInit } from './outgoing-request.ts'
import { hasHeader } from './request-headers.ts'
import type {
  Attachment,
  AttachOptions,
  AttachRequest,
  TokenAttacher,
  TokenProviderSelector,
} from './token-attacher.ts'

/** `fetch` with tokens attached. */
export type TokenFetch = (input: string | URL | Request, init?: TokenFetchInit | null) => Promise<Response>

/**
 * Wraps `fetch`: requests to the allowed origins carry a token, and a request whose token was rejected is sent once
 * more with a new one. For this, the body of a `Request` is kept, up to 1 MiB; a body that is a stream is sent once, and
 * the caller gets the 401.
 *
 * @example
 * const apiFetch = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'] })
 * await apiFetch('https://api.example.com/v1/orders')
 *
 * @throws {TokenError} of kind `configuration`, naming the option; if no token is available, a call sends nothing and
 * rejects with a TokenError
 */
export function createTokenFetch(
  tokens: TokenProvider | TokenProviderSelector,
  options: AttachOptions & { readonly fetch?: FetchLike | undefined },
): TokenFetch {
  const attacher = createTokenAttacher(tokens, options)
  const { fetch: custom } = options
  // Looked up at each call, so that a fetch replaced by instrumentation or by a test is used.
  const send: FetchLike = (input, init) => (custom ?? globalThis.fetch)(input, init)
  return (input, init) => fetchWithToken(attacher, send, input, init)
}

/** What an adapter knows of a body. */
export interface FetchWithTokenOptions {
  /** Whether the body of a `Request` is kept, up to 1 MiB; false for a stream, which would be read ahead. @default true */
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
  let request = new OutgoingRequest(input, init, keepsBody)
  const aboutRequest = (): AttachRequest & { readonly repeatable: boolean } => ({
    url: request.url,
    method: request.method,
    hasHeader: hasHeader(request.headers, attacher.header),
    repeatable: request.repeatable && (repeatsBody || !request.hasBody),
  })
  if (request.optedOut) return request.send(fetch, undefined, undefined)
  let attachment = await attacher.attach(aboutRequest(), request.signal)
  const redirects = redirectRule(attacher, attachment, request)
  for (let redirected = 0; ;) {
    const response = await request.send(fetch, attachment, redirects === 'as given' ? undefined : 'manual')
    const redirect = redirects === 'followed here' ? await redirectOf(request, response) : undefined
    if (redirect) {
      if (++redirected > maxRedirects) throw networkError('redirect count exceeded')
      discard(response)
      // As with `fetch`, no token goes to another origin, not even to an allowed one.
      if (redirect.url.origin !== new URL(request.url).origin) attachment = undefined
      request = followRedirect(request, input, redirect)
      continue
    }
    // A response after a redirect that `fetch` followed may be one to another method.
    const isOther = response.redirected && !/^(?:GET|HEAD)$/i.test(request.method)
    if (redirected > 0) Object.defineProperty(response, 'redirected', { value: true, configurable: true })
    if (response.status < 400 && !attacher.checksEveryResponse && !attachment?.isBound) return response
    await request.bodySettled()
    const about = aboutRequest()
    const repeatable = about.repeatable && !isOther
    const next = await attacher.retryAttachment(about, attachment, response, repeatable, request.signal)
    if (next === undefined) return response
    discard(response)
    attachment = next
  }
}

/**
 * Some implementations of `fetch` send the token to another origin, so redirects are followed here. Browsers, which do
 * not show where a redirect leads, drop it. Another header, or a proof for one URL, must not travel along: the caller
 * gets the redirect.
 */
function redirectRule(
  { followsRedirects }: TokenAttacher,
  attachment: Attachment | undefined,
  { redirect = 'follow' }: OutgoingRequest,
): 'as given' | 'followed here' | 'not followed' {
  if (attachment === undefined || redirect !== 'follow') return 'as given'
  if (!followsRedirects || attachment.isBound) return 'not followed'
  return runsInBrowser() ? 'as given' : 'followed here'
}

async function redirectOf(request: OutgoingRequest, response: Response): Promise<Redirect | undefined> {
  if (response.status < 300 || response.status > 308) return undefined
  await request.bodySettled()
  return readRedirect(request, response)
}

/** Frees the connection. */
function discard(response: Response): void {
  // The body of node-fetch is a stream of Node.
  const body = response.body as { cancel?(): Promise<void>; destroy?(): void } | null
  if (body?.cancel) void body.cancel().catch(() => {})
  else body?.destroy?.()
}
