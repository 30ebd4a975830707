import { configurationError, failureOf, TokenError } from '../protocol/token-error.ts'
import { isRedirect, kindOfStatus } from '../protocol/error-response.ts'
import { rateLimitReset, retryAfter } from '../protocol/headers.ts'
import { isSecure } from '../protocol/secure-url.ts'
import { readTokenResponse, type TokenResponse } from '../protocol/token-response.ts'
import type { TokenSource } from '../protocol/token-source.ts'
import { createTokenProvider } from '../provider/caching-token-provider.ts'
import type { TokenProvider, TokenProviderOptions } from '../provider/token-provider.ts'
import { digest } from '../runtime/digest.ts'
import { whileWaiting } from '../runtime/wait.ts'
import { failureDetail, fetchToken, withoutQuery, type FetchLike } from './send.ts'

/** What `new Headers()` accepts. */
export type HeadersInput = NonNullable<RequestInit['headers']>

/** How a frontend requests tokens from its own backend, and how they are cached. */
export interface BackendTokensOptions extends TokenProviderOptions {
  /** URL of the backend's token route; may be relative to the page. */
  readonly url: string | URL
  /** Sends the token requests. @default the global fetch, looked up at each request */
  readonly fetch?: FetchLike | undefined
  /** Request headers, such as a CSRF token; called before each request. */
  readonly headers?: (() => HeadersInput | Promise<HeadersInput>) | undefined
  /** Whether cookies are sent to another origin, as for `fetch`. */
  readonly credentials?: RequestInit['credentials'] | undefined
}

/**
 * Gets tokens for a frontend from its own backend, and caches them: POSTs to `url` and expects the result of
 * {@link tokenResponseBody}. The page never sees a client secret. If an API has rejected the page's token, the request has the
 * header `x-token-rejected` with a digest of that token: the backend must not return this token again (see
 * {@link isRejectedByPage}). A 401 or a redirect means that the session has ended:
 * the error has the kind `credentials` and no cooldown, so that logging in takes effect at once. After a 403, a 419 or a
 * login page, a changed header ends the cooldown. Any other failure is classified by its status.
 */
export function backendTokens(options: BackendTokensOptions): TokenProvider {
  return createTokenProvider(createBackendSource({ ...options }), options)
}

function createBackendSource({ url, fetch, headers, credentials }: BackendTokensOptions): TokenSource {
  const absolute = URL.canParse(url) ? new URL(url) : undefined
  if (absolute && (!isSecure(absolute, false) || absolute.username || absolute.password)) {
    throw configurationError(
      'url must be relative to the page or start with https://, without a user name or password.',
    )
  }
  // The token depends on cookies and headers: it is never shared with another source.
  const own = Math.random()
  let session = 0
  /** What was sent when the backend last rejected it: the headers, or a session that has ended. */
  let rejected: Headers | 'session' | undefined
  return {
    // A token from a session that has ended must not be used in the next one.
    cacheKey: () => Promise.resolve(`backend ${String(url)} ${own} ${session}`),
    async requestToken({ signal, rejectedToken }) {
      rejected = undefined
      const chosen = withAccept(await headers?.())
      const sent = new Headers(chosen)
      if (rejectedToken !== undefined)
        sent.set('x-token-rejected', (await tokenDigest(rejectedToken)) ?? 'true')
      const init = { method: 'POST', headers: sent, signal, ...(credentials && { credentials }) }
      const what = (): string => `The backend's token route ${withoutQuery(url)}`
      const unreachable = (cause: unknown): never => throwUnreachable(cause, sent)
      const response = await whileWaiting(signal, what, fetchToken(fetch, url, init).catch(unreachable))
      const { status, ok } = response
      const body = await whileWaiting(signal, what, response.text().catch(unreachable))
      const token = ok ? tokenOf(body) : undefined
      if (token) return token
      // A redirect leads to a login page.
      if (status === 401 || isRedirect(status)) {
        session++
        rejected = 'session'
        throw sessionEnded(status)
      }
      const error = failure(response)
      // A CSRF token has expired, or a login page came instead of a token.
      rejected = error.kind === 'credentials' || error.kind === 'malformed' ? chosen : undefined
      throw error
    },
    async credentialsChanged() {
      if (rejected === undefined || rejected === 'session') return rejected === 'session'
      return !sameHeaders(rejected, withAccept(await headers?.()))
    },
  }
}

/** Names a token to those who have it. */
async function tokenDigest(token: string): Promise<string | undefined> {
  return (await digest(['rejected', token]))?.slice(0, 32)
}

/**
 * Whether a page's request for a token says that an API has rejected this token (see {@link backendTokens}). Of many pages with one
 * revoked token, the first report replaces it; the others are about a token that the backend no longer has.
 *
 * @param header the value of `x-token-rejected`
 *
 * @example
 * const current = tokens.peekToken()
 * if (current && (await isRejectedByPage(current, request.get('x-token-rejected')))) tokens.reject(current)
 */
export async function isRejectedByPage(
  token: { readonly value: string },
  header: string | null | undefined,
): Promise<boolean> {
  // A page without WebCrypto, loaded over plain HTTP, does not say which token.
  return header === 'true' || (Boolean(header) && header === (await tokenDigest(token.value)))
}

function throwUnreachable(cause: unknown, sent: Headers): never {
  throw failureOf(cause, (code) => {
    const detail = failureDetail(cause, code, [...sent.values()])
    return new TokenError({
      kind: 'unavailable',
      message: `Could not reach the backend's token route (${detail}).`,
    })
  })
}

function tokenOf(body: string): TokenResponse | undefined {
  try {
    const members = Object(JSON.parse(body)) as Record<string, unknown>
    const response = members['error'] ? undefined : readTokenResponse(members)
    return typeof response === 'object' ? response : undefined
  } catch {
    return undefined
  }
}

function sessionEnded(status: number): TokenError {
  return new TokenError({
    kind: 'credentials',
    message: 'The backend returned no token: the session has ended. Log in again.',
    status,
  })
}

function failure({ status, headers }: Response): TokenError {
  if (status === 403 || status === 419) {
    return new TokenError({
      kind: 'credentials',
      message: `The backend rejected the token request (${status}). Check the CSRF token and session.`,
      status,
    })
  }
  const kind = kindOfStatus(status)
  const temporary = kind === 'throttled' || kind === 'unavailable'
  return new TokenError({
    kind,
    message: `The backend returned no token (${status}).${temporary ? '' : ' Check its URL.'}`,
    status,
    retryAfterMs: temporary
      ? (retryAfter(headers) ?? (kind === 'throttled' ? rateLimitReset(headers) : undefined))
      : undefined,
  })
}

function withAccept(init: HeadersInput | undefined): Headers {
  const headers = new Headers(init)
  if (!headers.has('accept')) headers.set('accept', 'application/json')
  return headers
}

function sameHeaders(one: Headers, other: Headers): boolean {
  return JSON.stringify([...one]) === JSON.stringify([...other])
}
