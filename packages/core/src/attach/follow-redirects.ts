import { headerValue } from '../protocol/headers.ts'
import { runsInBrowser } from '../runtime/environment.ts'
import type { FetchLike } from '../sources/send.ts'
import { discardBody } from './body.ts'
import { OutgoingRequest } from './fetch-arguments.ts'
import type { ApiResponse } from './is-token-rejected.ts'
import type { Attachment } from './token-attacher.ts'

const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308]
/** As many as `fetch` follows. */
const maxRedirects = 20

/** Headers that `fetch` does not send to another origin. */
const credentials = ['authorization', 'cookie', 'host', 'proxy-authorization']
/** Headers that describe a body. */
const bodyHeaders = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-type',
]
/** What a `Request` and the options of `fetch` have in common, apart from URL, method, headers and body. */
const members = ['cache', 'credentials', 'integrity', 'keepalive', 'mode', 'referrerPolicy'] as const

/** What came back, and for which request. */
export interface FollowedResponse {
  readonly response: Response
  /** The one that was responded to, after redirects. */
  readonly request: OutgoingRequest
  /** False if it had lost its token by a redirect. */
  readonly hasToken: boolean
}

/**
 * Sends a request with its token, and then those that redirects lead to.
 *
 * @param input what `fetch` was called with
 * @throws {TypeError} the network error of `fetch` for a redirect that cannot be followed
 */
export async function sendFollowingRedirects(
  first: OutgoingRequest,
  input: string | URL | Request,
  attachment: Attachment | undefined,
  fetch: FetchLike,
): Promise<FollowedResponse> {
  const rule = redirectRule(attachment, first)
  let request = first
  for (let carried = attachment; ;) {
    const response = await request.send(fetch, carried?.headers, rule === 'as given' ? undefined : 'manual')
    const mayFollow = rule === 'followed here' && redirectStatuses.includes(response.status)
    const redirect = mayFollow ? await redirectOf(request, response) : undefined
    if (redirect === undefined) return { response, request, hasToken: carried !== undefined }
    discardBody(response)
    // As with `fetch`, no token goes to another origin, not even to an allowed one.
    if (redirect.url.origin !== new URL(request.url).origin || carried?.allows?.(redirect.url) === false)
      carried = undefined
    request = redirectedRequest(request, input, redirect)
  }
}

/**
 * Some implementations of `fetch` send the token to another origin, so redirects are followed here. Browsers, which do
 * not show where a redirect leads, drop it. Another header, or a proof for one URL, must not travel along: the caller
 * gets the redirect.
 */
function redirectRule(
  attachment: Attachment | undefined,
  { redirect = 'follow' }: OutgoingRequest,
): 'as given' | 'followed here' | 'not followed' {
  if (attachment === undefined || redirect !== 'follow') return 'as given'
  if (!attachment.followsRedirects) return 'not followed'
  return runsInBrowser() ? 'as given' : 'followed here'
}

async function redirectOf(request: OutgoingRequest, response: Response): Promise<Redirect | undefined> {
  // Whether the body can be sent again.
  await request.bodySettled()
  const { url, method, redirects, redirectedBody: body } = request
  return readRedirect({ url, method, redirects, body }, response)
}

/** The error of `fetch`: libraries know a network error by its message. */
function networkError(reason: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(reason) })
}

/** Where a redirect leads, and how a request changes on the way. */
export interface Redirect {
  readonly url: URL
  readonly method: string
  /** Whether the body is sent again. */
  readonly keepsBody: boolean
  /** Names of the headers that must not be sent along, in lower case. */
  readonly droppedHeaders: readonly string[]
}

/**
 * Reads a redirect by the rules of `fetch` (Fetch standard, HTTP-redirect fetch), which not every implementation follows:
 * some send credentials to another origin. For authors of adapters.
 *
 * @param request `redirects`: how many redirects led to it; `body`: whether it can be sent again, is a stream, which `fetch` sends
 * once, or was too large to be kept
 * @returns undefined for any other response
 * @throws {TypeError} the network error of `fetch` after 20 redirects, if it leads to a URL that cannot be requested, or if
 * the body would have to be sent again and cannot be
 */
export function readRedirect(
  request: {
    readonly url: string
    readonly method: string
    readonly body: 'complete' | 'stream' | 'too large'
    readonly redirects: number
  },
  { status, headers }: Pick<ApiResponse, 'status' | 'headers'>,
): Redirect | undefined {
  if (!redirectStatuses.includes(status)) return undefined
  const location = headerValue(headers, 'location')
  if (location === null || location === undefined) return undefined
  if (request.redirects >= maxRedirects) throw networkError('redirect count exceeded')
  const { origin, hash } = new URL(request.url)
  const url = URL.canParse(location, request.url) ? new URL(location, request.url) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw networkError(`${origin} redirected to a URL that cannot be requested.`)
  }
  url.hash ||= hash
  const method = request.method.toUpperCase()
  const becomesGet =
    (status === 303 && method !== 'GET' && method !== 'HEAD') || (status < 303 && method === 'POST')
  if (status !== 303 && request.body === 'stream') {
    throw networkError(`A request whose body cannot be sent again was redirected to ${url.origin}.`)
  }
  if (!becomesGet && request.body === 'too large') {
    throw networkError(
      `A request was redirected to ${url.origin}, and its body is larger than 16 MiB, so it was not kept. ` +
        'Pass the body to fetch beside the URL instead of in a Request, or call that URL.',
    )
  }
  return {
    url,
    method: becomesGet ? 'GET' : request.method,
    keepsBody: !becomesGet,
    droppedHeaders: [...(url.origin === origin ? [] : credentials), ...(becomesGet ? bodyHeaders : [])],
  }
}

/** The request that a redirect leads to. */
function redirectedRequest(
  request: OutgoingRequest,
  input: string | URL | Request,
  { url, method, keepsBody, droppedHeaders }: Redirect,
): OutgoingRequest {
  const headers = new Headers(request.headers)
  for (const name of droppedHeaders) headers.delete(name)
  const init: Record<string, unknown> = { ...request.init, headers, method }
  if (typeof input === 'object' && 'clone' in input) {
    // Not every runtime has all of them.
    for (const name of members) if (input[name] !== undefined) init[name] ??= input[name]
  }
  if (request.signal) init['signal'] = request.signal
  init['body'] = keepsBody ? request.repeatedBody : undefined
  if (init['body'] === undefined || init['body'] === null) delete init['body']
  return new OutgoingRequest(url, init, request.options, request.redirects + 1)
}
