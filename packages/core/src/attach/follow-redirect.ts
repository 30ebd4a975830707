import { OutgoingRequest } from './outgoing-request.ts'

/** As many as `fetch` follows. */
export const maxRedirects = 20

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

/** The error of `fetch`: libraries know a network error by its message. */
export function networkError(reason: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(reason) })
}

/** The URL that a redirect leads to; undefined for any other response. */
export function redirectTarget({ url }: OutgoingRequest, response: Response): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(response.status)) return undefined
  const location = response.headers.get('location')
  if (location === null) return undefined
  const target = URL.canParse(location, url) ? new URL(location, url) : undefined
  if (!target || !/^https?:$/.test(target.protocol)) {
    throw networkError(`${new URL(url).origin} redirected to a URL that cannot be requested.`)
  }
  target.hash ||= new URL(url).hash
  return target
}

/**
 * The request that a redirect leads to, by the rules of `fetch` (Fetch standard, HTTP-redirect fetch), which not every
 * implementation follows: some send credentials to another origin.
 *
 * @throws {TypeError} if the body would have to be sent again and was not kept
 */
export async function followRedirect(
  request: OutgoingRequest,
  input: string | URL | Request,
  target: URL,
  status: number,
): Promise<OutgoingRequest> {
  const method = request.method.toUpperCase()
  const becomesGet =
    (status === 303 && method !== 'GET' && method !== 'HEAD') || (status < 303 && method === 'POST')
  const headers = new Headers(request.headers)
  if (target.origin !== new URL(request.url).origin) for (const name of credentials) headers.delete(name)
  if (becomesGet) for (const name of bodyHeaders) headers.delete(name)
  await request.bodySettled()
  if (status !== 303 && !request.repeatable) {
    throw networkError(`A request whose body cannot be sent again was redirected to ${target.origin}.`)
  }
  const init: Record<string, unknown> = { ...request.init, headers }
  if (typeof input === 'object' && 'clone' in input) {
    // Not every runtime has all of them.
    for (const name of members) if (input[name] !== undefined) init[name] ??= input[name]
  }
  if (request.signal) init['signal'] = request.signal
  init['method'] = becomesGet ? 'GET' : request.method
  init['body'] = becomesGet ? undefined : request.repeatedBody
  if (init['body'] === undefined || init['body'] === null) delete init['body']
  return new OutgoingRequest(target, init)
}
