import type { ResponseHeaders } from '../protocol/headers.ts'
import type { TokenProvider } from '../provider/token-provider.ts'
import type { AccessToken } from '../provider/access-token.ts'
import type { AllowedOrigin } from './allowed-origins.ts'

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
  /** Allows tokens over plain HTTP to hosts other than loopback. @default false */
  readonly allowInsecureRequests?: boolean | undefined
}

/**
 * Selects the provider whose token a request carries, such as that of a tenant. It is called for each request to an
 * allowed origin, with its full URL; undefined sends the request without a token. A token that one provider issued is never
 * replaced by that of another, and no redirect takes it to another origin.
 *
 * @example
 * createTokenFetch(({ url }) => pool.for(url.hostname), { allowedOrigins: ['https://*.example.com'] })
 */
export type TokenProviderSelector = (request: {
  readonly url: URL
  readonly method: string
}) => TokenProvider | undefined

/** The token of one request. */
export interface Attachment {
  /** The headers to set; they hold the token. */
  readonly headers: Readonly<Record<string, string>>
  readonly token: AccessToken
  /** The provider that was selected for the request. */
  readonly provider: TokenProvider
  /** 2 if it replaces a token that was rejected. */
  readonly attempt: 1 | 2
  /** Whether the token is bound to a key: redirects must not be followed, and `retryAttachment` must see every response. */
  readonly isBound?: boolean | undefined
  /** Whether it repeats a request that lacked the server's nonce. */
  readonly isNonceRepeat?: boolean | undefined
  /** Whether it repeats a request whose token lacked a scope. */
  readonly isWider?: boolean | undefined
}

/** A request as an attacher sees it. */
export interface AttachRequest {
  readonly method: string
  /** May be relative to the page, in a browser. */
  readonly url: string | URL
  /** The full URL, if `url` is a shorter one of the same origin. */
  readonly target?: (() => string | URL) | undefined
  /** Whether it has a header of the attacher's name already. @default false */
  readonly hasHeader?: boolean | undefined
  /** False if it cannot be sent again: it then waits for the replacement of a token that was rejected. @default true */
  readonly repeatable?: boolean | undefined
}

/** What an attacher reads of an API's response. A `Response` is one. */
export interface ApiResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  /** The final URL, after redirects. */
  readonly url?: string | undefined
  /** Reads the start of the body as text, at most 16 KiB; undefined if the body cannot be read without consuming it. */
  readonly readBody?: (() => string | undefined | Promise<string | undefined>) | undefined
}

/** Decides where a token may be sent, what a response means, and whether to send a request again; see `createTokenAttacher`. */
export interface TokenAttacher {
  /** Name of the header that carries the token. */
  readonly header: string
  /** Whether an existing header is replaced; otherwise, a request that has one is sent as it is. */
  readonly replaceHeader: boolean
  /**
   * Whether clients drop the header themselves on a redirect to another origin. They do so only for
   * `Authorization`; with any other header, redirects must not be followed.
   */
  readonly followsRedirects: boolean
  /**
   * Whether `retryAttachment` must see every response. Otherwise it must see those with a status of 400 or more, and those to
   * a request with a bound token.
   */
  readonly checksEveryResponse: boolean
  /**
   * The token for a request; undefined if the request must be sent as it is, because no token may be sent to its URL or it
   * has such a header already.
   */
  attach(request: AttachRequest, signal?: AbortSignal | null): Promise<Attachment | undefined>
  /**
   * Must be called with the responses that `checksEveryResponse` describes, including those to repeated requests.
   * Reports a rejected token to the provider, and returns the attachment to send the request with once more, or
   * undefined if the caller gets this response.
   *
   * @param request the one that was responded to: after a redirect, the redirected one
   * @param attachment undefined if no token was sent
   * @param repeatable whether the request can be sent again unchanged
   */
  retryAttachment(
    request: AttachRequest,
    attachment: Attachment | undefined,
    response: ApiResponse | Response,
    repeatable: boolean,
    signal?: AbortSignal | null,
  ): Promise<Attachment | undefined>
}
