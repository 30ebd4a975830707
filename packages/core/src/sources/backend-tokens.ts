import { onCredentialsChange } from '../tokens/credentials-change.ts'
import { secureUrl } from '../protocol/secure-url.ts'
import { sendTokenRequest, type FetchLike } from './send-token-request.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { TokenSource } from '../tokens/token-source.ts'

/** How a frontend asks its own backend for tokens. */
export interface BackendTokensOptions {
  /** Address of the backend's token route; may be relative to the page. */
  readonly url: string | URL
  /** @default the global fetch, looked up at each request */
  readonly fetch?: FetchLike | undefined
  /** Headers to send along, such as a CSRF token; asked before each request. */
  readonly headers?: (() => NonNullable<RequestInit['headers']>) | undefined
  /** Whether cookies go along to another origin, as for `fetch`. */
  readonly credentials?: RequestInit['credentials'] | undefined
}

/**
 * Tokens for a frontend, from its own backend: POSTs to `url` and expects what {@link tokenResponseBody}
 * makes. The page never sees a client secret. A 401 means that the session ended: the error is of kind
 * `credentials` and is not held, so that a log-in helps at once.
 */
export function backendTokens(options: BackendTokensOptions): TokenSource {
  const { url, fetch, headers, credentials } = { ...options }
  if (/^[a-z][a-z\d+.-]*:/i.test(String(url))) secureUrl('url', url)
  // Whose token it is depends on cookies and headers: never another source's.
  const own = Math.random()
  let session = 0
  return {
    // A token of an ended session is not the next session's.
    cacheKey: () => Promise.resolve(`backend ${String(url)} ${own} ${session}`),
    async requestToken({ signal }) {
      try {
        const { raw: _raw, ...response } = await sendTokenRequest(fetch, url, {
          method: 'POST',
          headers: withAccept(headers?.()),
          signal,
          ...(credentials && { credentials }),
        })
        return response
      } catch (error) {
        throw error instanceof TokenError && endsSession(error) ? sessionEnded(error) : error
      }
    },
  }

  function sessionEnded({ status }: TokenError): TokenError {
    session++
    const error = new TokenError({
      kind: 'credentials',
      message: 'The backend gave no token: the session has ended; log in again',
      status,
    })
    onCredentialsChange(error, () => Promise.resolve(true))
    return error
  }
}

/** A redirect leads to a log-in page; browsers show it as status 0. */
function endsSession({ status = -1 }: TokenError): boolean {
  return status === 401 || status === 0 || (status >= 300 && status < 400)
}

function withAccept(init: HeadersInit | undefined): Headers {
  const headers = new Headers(init)
  if (!headers.has('accept')) headers.set('accept', 'application/json')
  return headers
}
