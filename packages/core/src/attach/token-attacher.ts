import { configurationError } from '../protocol/configuration-error.ts'
import { classifyApiResponse } from '../protocol/classify-api-response.ts'
import { headerValue, type ResponseHeaders } from '../protocol/headers.ts'
import {
  acceptReplacement,
  emitEvent,
  freshToken,
  rejectForRequest,
  tokenForSingleUse,
  type ProviderInternals,
} from '../provider/provider-internals.ts'
import type { TokenProvider } from '../provider/token-provider.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import { absoluteUrl, createOriginCheck, type AllowedOrigin } from './allowed-origins.ts'
import { readBodyStart } from './read-body-start.ts'

/** Where tokens may be sent, and how. */
export interface AttachOptions {
  /** The only origins that tokens are sent to: exact origins, `https://*.example.com`, or functions. */
  readonly allowedOrigins: readonly AllowedOrigin[]
  /** Request header that carries the token. @default 'Authorization' */
  readonly header?: string | undefined
  /** Word before the token; empty for the token alone. @default 'Bearer' */
  readonly scheme?: string | undefined
  /** Replaces an existing header of that name, such as the API key of a client library. @default false */
  readonly replaceHeader?: boolean | undefined
  /** Whether a request whose token was rejected is sent once more with a new one. @default true */
  readonly retryOnRejection?: boolean | undefined
  /**
   * Decides whether a response means that the token was rejected, for APIs that report this with a 403, 400 or 200;
   * undefined leaves the decision to the built-in rules. Called for every response to a request that carried a
   * token.
   */
  readonly isTokenRejected?:
    | ((response: ApiResponse) => boolean | undefined | Promise<boolean | undefined>)
    | undefined
  /** Maximum size in bytes of a `Request` body that is kept to be sent again; 0 keeps none. @default 1_048_576 */
  readonly maxReplayBytes?: number | undefined
  /** Allows tokens over plain HTTP to hosts other than loopback. @default false */
  readonly allowInsecure?: boolean | undefined
}

/** The token of one request. */
export interface Attachment {
  /** The headers to set; they hold the token. */
  readonly headers: Readonly<Record<string, string>>
  readonly token: AccessToken
  /** Whether it replaces a token that was rejected. */
  readonly isReplacement?: boolean | undefined
  /** Whether the token is bound to a key: redirects must not be followed, and `reattach` must see every response. */
  readonly isBound?: boolean | undefined
  /** Whether it repeats a request that lacked the server's nonce. */
  readonly isNonceRepeat?: boolean | undefined
}

/** A request as an attacher sees it. */
export interface AttachRequest {
  readonly method: string
  /** Relative to the page, in a browser. */
  readonly url: string | URL
  /** The full URL, if `url` is a shorter one of the same origin. */
  readonly target?: (() => string | URL) | undefined
  /** False if it cannot be sent again: it then waits for the replacement of a token that was rejected. @default true */
  readonly repeatable?: boolean | undefined
}

/** A response of an API, as far as its token is concerned. A `Response` is one. */
export interface ApiResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  /** The final URL, after redirects. */
  readonly url?: string | undefined
  /** Reads the start of the body as text, at most 16 KiB; undefined if the body cannot be read without consuming it. */
  readonly readBody?: (() => string | undefined | Promise<string | undefined>) | undefined
}

/** The one place that decides where a token may be sent, what a response means, and whether to send a request again. */
export interface TokenAttacher {
  /** Name of the header that carries the token. */
  readonly header: string
  /** Whether an existing header is replaced; otherwise a request that has one is sent as it is. */
  readonly replaceHeader: boolean
  /**
   * Whether clients drop the header themselves on a redirect to another origin. They do so only for
   * `Authorization`; with any other header, redirects must not be followed.
   */
  readonly followsRedirects: boolean
  /**
   * Whether `reattach` must see every response. Otherwise it must see those with a status of 400 or more, and those to
   * a request with a bound token or a replacement.
   */
  readonly checksEveryResponse: boolean
  /**
   * The token for a request, or undefined if none may be sent to its URL: then send the request as it is.
   * Returns without a promise while a fresh token is cached.
   *
   * @param signal a function that returns it is called only if there is something to wait for
   */
  attach(
    request: AttachRequest,
    signal?: AbortSignal | null | (() => AbortSignal | undefined),
  ): Attachment | undefined | Promise<Attachment | undefined>
  /**
   * Must be called with each response to a request with a token, repeated requests included. Reports a rejected
   * token to the provider, and returns the attachment to send the request with once more, or undefined if the
   * caller gets this response.
   *
   * @param attachment undefined if no token was sent
   * @param repeatable whether the request can be sent again unchanged
   */
  reattach(
    request: AttachRequest,
    attachment: Attachment | undefined,
    response: ApiResponse | Response,
    repeatable: boolean,
    signal?: AbortSignal | null | (() => AbortSignal | undefined),
  ): Promise<Attachment | undefined>
}

const tokenCharacters = "[\\w!#$%&'*+.^`|~-]"

/**
 * Creates the attacher that every adapter delegates to; for authors of adapters.
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createTokenAttacher(tokens: TokenProvider, options: AttachOptions): TokenAttacher {
  const {
    allowedOrigins,
    header = 'Authorization',
    scheme = 'Bearer',
    replaceHeader = false,
    retryOnRejection = true,
    isTokenRejected,
    allowInsecure = false,
  } = options ?? {}
  const isAllowed = createOriginCheck(allowedOrigins, allowInsecure)
  if (!new RegExp(`^${tokenCharacters}+$`).test(header)) {
    throw configurationError('header must be the name of a request header.')
  }
  if (!new RegExp(`^${tokenCharacters}*$`).test(scheme)) {
    throw configurationError("scheme must be a single word, or '' for none.")
  }
  const prefix = scheme && `${scheme} `
  const internals = tokens as ProviderInternals
  const warned = new Set<string>()
  let last: Attachment | undefined

  function attachmentOf(token: AccessToken, request: AttachRequest): Attachment | Promise<Attachment> {
    if (last?.token === token) return last
    if (token.tokenType === 'DPoP') return boundAttachmentOf(token, request)
    return (last = { headers: { [header]: prefix + token.value }, token })
  }

  async function boundAttachmentOf(token: AccessToken, request: AttachRequest): Promise<Attachment> {
    const { value, tokenType, binding } = token
    if (binding === undefined) {
      throw configurationError(
        'The token is bound to a key (DPoP), but its source has no binding. Pass binding: dpop().',
      )
    }
    const url = new URL(absoluteUrl(request.target?.() ?? request.url))
    const proof = await binding.prove({ method: request.method, url, accessToken: value })
    return { headers: { ...proof, [header]: `${tokenType} ${value}` }, token, isBound: true }
  }

  async function isRejected(response: ApiResponse | Response): Promise<boolean> {
    const { status, headers } = response
    const apiResponse =
      'clone' in response
        ? { status, headers, url: response.url, readBody: () => readBodyStart(response) }
        : response
    const decision = await isTokenRejected?.(apiResponse)
    if (decision !== undefined) return decision
    if (status < 400) return false
    const isJson = /\bjson\b/i.test(headerValue(headers, 'content-type') ?? '')
    const body = isJson ? await apiResponse.readBody?.() : undefined
    return classifyApiResponse(status, headers, body).tokenRejected
  }

  async function replace(
    token: AccessToken,
    url: string,
    repeatable: boolean,
    signal: AbortSignal | undefined,
  ): Promise<AccessToken | undefined> {
    if (internals[rejectForRequest]) {
      const { origin, pathname } = new URL(url)
      return internals[rejectForRequest](token, { origin, resource: origin + pathname, repeatable, signal })
    }
    tokens.reject(token)
    return repeatable ? tokens.getToken(signal && { signal }) : undefined
  }

  /** Explains a 401 that would otherwise be hard to debug. */
  function warnOfWithheldToken(origin: string): void {
    const { process, console } = globalThis as {
      process?: { env?: Record<string, string | undefined> }
      console?: { warn(message: string): void }
    }
    if (warned.has(origin) || /^(?:production|test)$/.test(process?.env?.['NODE_ENV'] ?? '')) return
    warned.add(origin)
    console?.warn(
      `Tokenwell: ${origin} responded with 401. No token was sent to it, because it is not in allowedOrigins.`,
    )
  }

  return {
    header,
    replaceHeader,
    followsRedirects: header.toLowerCase() === 'authorization',
    checksEveryResponse: isTokenRejected !== undefined,
    attach(request, signal) {
      const { url, repeatable = true } = request
      if (!isAllowed(url)) {
        internals[emitEvent]?.({ type: 'token_withheld', origin: originOf(url) })
        return undefined
      }
      const given = typeof signal === 'function' ? undefined : signal
      const singleUse = !repeatable || !retryOnRejection
      const fresh = given?.aborted ? undefined : internals[freshToken]?.(singleUse)
      if (fresh) return attachmentOf(fresh, request)
      const awaited = (typeof signal === 'function' ? signal() : signal) ?? undefined
      const token =
        singleUse && internals[tokenForSingleUse]
          ? internals[tokenForSingleUse](awaited)
          : tokens.getToken(awaited && { signal: awaited })
      return token.then((found) => attachmentOf(found, request))
    },
    async reattach(request, attachment, response, repeatable, signal) {
      if (attachment === undefined) {
        if (response.status === 401 && !isAllowed(request.url)) warnOfWithheldToken(originOf(request.url))
        return undefined
      }
      const { token, isReplacement, isNonceRepeat } = attachment
      const url = String(absoluteUrl(response.url || request.url))
      // After a redirect to another origin, the request carried no token, so the response says nothing about it.
      if (!isAllowed(url)) return undefined
      if (token.binding?.receive(new URL(url), response.headers) && repeatable && !isNonceRepeat) {
        return { ...(await attachmentOf(token, request)), isReplacement, isNonceRepeat: true }
      }
      const rejected = (response.status >= 400 || isTokenRejected) && (await isRejected(response))
      if (isReplacement) {
        const { origin, pathname } = new URL(url)
        if (!rejected) internals[acceptReplacement]?.(origin + pathname)
        return undefined
      }
      if (!rejected) return undefined
      const awaited = (typeof signal === 'function' ? signal() : signal) ?? undefined
      try {
        const next = await replace(token, url, retryOnRejection && repeatable, awaited)
        // None, or the same: tokens are rejected so often that no new one is requested now.
        if (next === undefined || next.value === token.value) return undefined
        return { ...(await attachmentOf(next, request)), isReplacement: true, isNonceRepeat }
      } catch {
        // No new token is available: the API's own response says more.
        awaited?.throwIfAborted()
        return undefined
      }
    },
  }
}

function originOf(value: string | URL): string {
  const url = absoluteUrl(value)
  return URL.canParse(url) ? new URL(url).origin : 'null'
}
