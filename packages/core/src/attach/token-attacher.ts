import { scopes } from '../protocol/build-token-request.ts'
import { challengeWith } from '../protocol/challenges.ts'
import { headerValue, type ResponseHeaders } from '../protocol/headers.ts'
import { covers } from '../protocol/secure-url.ts'
import { changeTokenError, configurationError, isTokenError } from '../protocol/token-error.ts'
import type { AccessToken } from '../provider/access-token.ts'
import { environment } from '../runtime/environment.ts'
import { isOwnRequest } from '../runtime/own-request.ts'
import { checkProvider, type RejectedRequest, type TokenProvider } from '../provider/token-provider.ts'
import type { FirstRequest } from '../protocol/token-source.ts'
import { createRejectionCheck, type ApiResponse } from './is-token-rejected.ts'
import {
  absoluteUrl,
  createOriginCheck,
  originOf,
  type AllowedOrigin,
  type ClientBaseUrl,
} from './origins.ts'

/** Where tokens may be sent, and how. */
export interface AttachOptions {
  /**
   * The only origins that tokens are sent to: exact origins, `https://*.example.com`, or functions.
   * @default the origin of the client's base URL
   */
  readonly allowedOrigins?: readonly AllowedOrigin[] | undefined
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
   * token, and for the one to the first request of `clientCredentialsForResource`, which carries none.
   */
  readonly isTokenRejected?:
    | ((response: ApiResponse) => boolean | undefined | Promise<boolean | undefined>)
    | undefined
  /** Allows tokens over plain HTTP to hosts other than loopback. @default false */
  readonly allowInsecureRequests?: boolean | undefined
}

/**
 * Where the tokens of a client's requests come from: a provider, or a function that selects one.
 *
 * The function selects the provider whose token a request carries, such as that of a tenant. It is called for each request
 * to an allowed origin, with its full URL; undefined sends the request without a token. A token that one provider issued is
 * never replaced by that of another, and no redirect takes it to another origin.
 *
 * @example
 * createTokenFetch(({ url }) => pool.for(url.hostname), { allowedOrigins: ['https://*.example.com'] })
 */
export type AttachableTokens =
  | TokenProvider
  | ((request: { readonly url: URL; readonly method: string }) => TokenProvider | undefined)

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
  /** Whether it is known only after sending whether it can be sent again, as with a body that is still arriving. @default false */
  readonly isUncertain?: boolean | undefined
}

/** How a request carries its token. */
export interface Attachment {
  /** The headers to set. Those of the same names are replaced. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Whether the client may follow redirects: it must drop the headers on the way to another origin. Otherwise, the caller gets
   * the redirect.
   */
  readonly followsRedirects: boolean
  /** Whether the token may follow a redirect to this URL of the same origin. @default to all of them */
  readonly allows?: ((url: URL) => boolean) | undefined
}

/** What came back for a request that was sent. */
export interface SentRequest<Result> extends ApiResponse {
  /** What the caller gets, unless the request is sent again. */
  readonly result: Result
  /** The request that was responded to, if the adapter has followed redirects. @default the request of the caller */
  readonly request?: AttachRequest | undefined
  /** False if it had lost its token by a redirect to another origin. @default true */
  readonly hasToken?: boolean | undefined
  /** Whether it can be sent again. @default what `request` says */
  isRepeatable?(): boolean | Promise<boolean>
  /** Frees the connection of a response that nobody gets. */
  discard?(): void
}

/** Decides where a token may be sent, what a response means, and whether to send a request again; see `createTokenAttacher`. */
export interface TokenAttacher {
  /** Name of the header that carries the token. */
  readonly header: string
  /**
   * Sends a request with its token, and once more if the API rejected the token and another one is available, or if the API
   * required a nonce or a further scope.
   *
   * @param send sends the request once, with these headers; as it is if there are none, because no token may be sent to its URL
   * or it has such a header already. What it throws, the caller gets
   * @throws {TokenError} if no token is available; if a replacement for a rejected token is not, with the API's response as `cause`
   * @throws the signal's reason if the caller aborts while it waits for a token
   */
  send<Result>(
    request: AttachRequest,
    signal: AbortSignal | null | undefined,
    send: (attachment: Attachment | undefined) => Promise<SentRequest<Result>>,
  ): Promise<Result>
}

/** A request that carries a token, and what has happened to it. */
interface Exchange {
  readonly request: AttachRequest
  readonly provider: TokenProvider
  readonly signal: AbortSignal | undefined
  token: AccessToken
  // Each of these causes one repeated request.
  isReplacement: boolean
  isStepUp: boolean
  hasNonce: boolean
}

const tokenCharacters = "[\\w!#$%&'*+.^`|~-]"
/** How many origins are explained. */
const maxWarnings = 20

/**
 * Creates the attacher that every adapter delegates to; for authors of adapters.
 *
 * @param base the client's base URL, whose origin is allowed unless `allowedOrigins` is set
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createTokenAttacher(
  tokens: AttachableTokens,
  options: AttachOptions,
  base?: ClientBaseUrl,
): TokenAttacher {
  const {
    allowedOrigins,
    header = 'Authorization',
    scheme = 'Bearer',
    replaceHeader = false,
    retryOnRejection = true,
    isTokenRejected,
    allowInsecureRequests = false,
  } = options ?? {}
  const isAllowed = createOriginCheck(allowedOrigins, base, allowInsecureRequests)
  const isRejection = createRejectionCheck(isTokenRejected)
  if (!new RegExp(`^${tokenCharacters}+$`).test(header)) {
    throw configurationError('header must be the name of a request header.')
  }
  if (!new RegExp(`^${tokenCharacters}*$`).test(scheme)) {
    throw configurationError("scheme must be a single word, or '' for none.")
  }
  const onlyProvider =
    typeof tokens === 'function' ? undefined : checkProvider(tokens, 'A token provider is missing.')
  const prefix = scheme && `${scheme} `
  // Clients drop no other header themselves.
  const followsRedirects = header.toLowerCase() === 'authorization'
  const warned = new Set<string>()

  return {
    header,
    async send(request, callerSignal, send) {
      const signal = callerSignal ?? undefined
      const provider = providerFor(request)
      const waitForReplacement = !retryOnRejection || request.repeatable === false
      let token: AccessToken | undefined
      try {
        // The source may have it sent without a token, to learn from the response which one the API requires: if it could not
        // be repeated, that response would be all that the caller gets.
        const mayBeRepeated = !waitForReplacement && !request.isUncertain && !request.hasHeader
        const first = mayBeRepeated ? provider?.sendFirst?.(firstRequest(request, signal, send)) : undefined
        const sent = first && (await first)
        if (sent) return sent.result
        token = await provider?.getToken({ signal, waitForReplacement })
      } catch (error) {
        // The token request of this very provider, through a client that attaches its tokens, is sent without one.
        if (!isOwnRequest(error)) throw error
      }
      if (provider === undefined || token === undefined) {
        const sent = await send(undefined)
        if (sent.status === 401 && !provider) explainMissingToken(sent.request ?? request)
        return sent.result
      }
      if (token.resource !== undefined && !mayGoTo(token, fullUrl(request))) {
        provider.report?.({ type: 'token_withheld', origin: originOf(request.url) })
        const sent = await send(undefined)
        if (sent.status === 401) explainMissingToken(request, token.resource)
        return sent.result
      }
      const exchange = {
        request,
        provider,
        signal,
        token,
        isReplacement: false,
        isStepUp: false,
        hasNonce: false,
      }
      let attachment = token.tokenType === 'DPoP' ? await bound(token, request) : bearer(token)
      for (;;) {
        const sent = await send(attachment)
        const isFine =
          sent.status < 400 && sent.hasToken !== false && !isTokenRejected && !exchange.token.binding
        const next = isFine ? accept(exchange, sent) : await nextAttachment(exchange, sent)
        if (next === undefined) return sent.result
        sent.discard?.()
        attachment = next
      }
    },
  }

  /** The provider of the token that a request carries; undefined if it is sent as it is. */
  function providerFor(request: AttachRequest): TokenProvider | undefined {
    const { url } = request
    const allowed = isAllowed(url)
    const provider = allowed ? select(request) : onlyProvider
    const mayAttach = !request.hasHeader || replaceHeader
    if (allowed && mayAttach) return provider
    if (allowed) provider?.report?.({ type: 'token_skipped', origin: originOf(url) })
    else if (mayAttach) provider?.report?.({ type: 'token_withheld', origin: originOf(url) })
    return undefined
  }

  function select(request: AttachRequest): TokenProvider | undefined {
    if (typeof tokens !== 'function') return onlyProvider
    const provider = tokens({ url: fullUrl(request), method: request.method.toUpperCase() }) ?? undefined
    if (provider === undefined || typeof provider.getToken === 'function') return provider
    throw configurationError(
      'The function that selects a token provider must return a provider or undefined, not a promise.',
    )
  }

  function bearer(token: AccessToken): Attachment {
    const headers = { [header]: prefix + token.value }
    if (token.resource === undefined) return { headers, followsRedirects }
    return { headers, followsRedirects, allows: (url) => mayGoTo(token, url) }
  }

  /** The request as it is sent without a token. */
  function firstRequest<Result>(
    request: AttachRequest,
    signal: AbortSignal | undefined,
    send: (attachment: undefined) => Promise<SentRequest<Result>>,
  ): FirstRequest<SentRequest<Result>> {
    return {
      get url() {
        return String(absoluteUrl(request.target?.() ?? request.url))
      },
      signal,
      async send() {
        const sent = await send(undefined)
        const isOwn = originOf(sent.url || request.url) === originOf(request.url)
        const isRejected = isOwn && (sent.status === 403 || (await isRejection(sent, signal)))
        if (!isRejected || !(await canRepeat(request, sent))) return { challenge: undefined, result: sent }
        sent.discard?.()
        return { challenge: headerValue(sent.headers, 'www-authenticate') ?? '', result: sent }
      },
    }
  }

  function accept({ provider, request }: Exchange, sent: SentRequest<unknown>): undefined {
    // Reading the URL of a response costs a tenth of attaching a token.
    provider.reportSuccess?.(() => sent.url || request.url)
  }

  /** The token with a proof that its sender has the key (DPoP, RFC 9449). */
  async function bound(token: AccessToken, request: AttachRequest, nonce?: string): Promise<Attachment> {
    const { value: accessToken, tokenType, binding } = token
    if (binding === undefined) {
      throw configurationError(
        'The token is bound to a key (DPoP), but its source has no binding. Set binding: dpop().',
      )
    }
    const { method } = request
    const proof = await binding.prove({ method, url: fullUrl(request), accessToken, nonce })
    // A proof is for one URL.
    return { headers: { ...proof, [header]: `${tokenType} ${accessToken}` }, followsRedirects: false }
  }

  /** How to send a request once more; undefined if the caller gets this response. */
  async function nextAttachment(
    exchange: Exchange,
    sent: SentRequest<unknown>,
  ): Promise<Attachment | undefined> {
    const { token } = exchange
    const { status, headers, request = exchange.request, hasToken = true } = sent
    if (!hasToken) {
      if (status === 401) explainMissingToken(request)
      return undefined
    }
    const url = String(absoluteUrl(sent.url || request.url))
    // After a redirect to another origin or resource, the request carried no token, so the response says nothing about it.
    if (originOf(url) !== originOf(request.url) || !mayGoTo(token, url)) return undefined
    const lacksNonce = token.binding?.receive(new URL(url), headers) && !exchange.hasNonce
    if (lacksNonce && (await canRepeat(exchange.request, sent))) {
      exchange.hasNonce = true
      // Its own nonce: other requests may have used up the last one that arrived.
      return bound(token, request, headerValue(headers, 'dpop-nonce'))
    }
    const missingScopes =
      status === 403 && retryOnRejection && !exchange.isStepUp ? scopesLacking(headers) : []
    if (missingScopes.length > 0 && (await canRepeat(exchange.request, sent))) {
      const stepUp = await replaceToken(exchange, request, sent, {
        url,
        attempt: 1,
        repeatable: true,
        missingScopes,
      })
      exchange.isStepUp = true
      if (stepUp) return stepUp
    }
    if (!(await isRejection(sent, exchange.signal))) {
      if (status < 400) accept(exchange, sent)
      return undefined
    }
    const attempt = exchange.isReplacement ? 2 : 1
    const repeatable = attempt === 1 && retryOnRejection && (await canRepeat(exchange.request, sent))
    exchange.isReplacement = true
    const challenge = { url, header: headerValue(headers, 'www-authenticate') ?? '' }
    return replaceToken(exchange, request, sent, { url, attempt, repeatable, challenge })
  }

  /**
   * Reports the token. Undefined if there is no other that the request can be sent again with.
   *
   * @throws {TokenError} if the token service has none for it now: the response of the API, which is the `cause`, would not say so
   */
  async function replaceToken(
    exchange: Exchange,
    request: AttachRequest,
    { result }: SentRequest<unknown>,
    rejected: RejectedRequest,
  ): Promise<Attachment | undefined> {
    const { provider, token, signal } = exchange
    try {
      const next = await replacementOf(token, { ...rejected, signal }, provider)
      // The same: tokens are rejected so often that no new one is requested now.
      if (next === undefined || next.value === token.value) return undefined
      exchange.token = next
      return next.tokenType === 'DPoP' ? await bound(next, request) : bearer(next)
    } catch (error) {
      signal?.throwIfAborted()
      // The API's own response says more.
      if (rejected.missingScopes || !isTokenError(error) || error.kind === 'aborted') return undefined
      throw changeTokenError(error, {}, result)
    }
  }

  /** Explains a 401 that would otherwise be hard to debug. */
  function explainMissingToken(request: AttachRequest, resource?: string): void {
    const { console } = globalThis as { console?: { warn(message: string): void } }
    const origin = originOf(request.url)
    const isQuiet = /^(?:production|test)$/.test(environment()['NODE_ENV'] ?? '')
    if (isQuiet || warned.has(origin) || warned.size >= maxWarnings) return
    const reason = whyWithoutToken(request, resource)
    if (reason === undefined) return
    warned.add(origin)
    console?.warn(
      `Tokenwell: ${origin} responded with status 401. This client attached no token, because ${reason}`,
    )
  }

  function whyWithoutToken(request: AttachRequest, resource: string | undefined): string | undefined {
    if (resource !== undefined) return `its tokens are only for ${resource} and what is below it.`
    // Another attacher of the same client may have set the header.
    if (!isAllowed(request.url)) return request.hasHeader ? undefined : 'it is not in allowedOrigins.'
    if (request.hasHeader && !replaceHeader) {
      return `the request had a header ${header} already. Remove that header, or set replaceHeader: true.`
    }
    return select(request) === undefined ? 'no token provider was selected for it.' : undefined
  }
}

function fullUrl(request: AttachRequest): URL {
  return new URL(absoluteUrl(request.target?.() ?? request.url))
}

/** Whether a token is for a URL: every one of the allowed origins, or those of its resource. */
function mayGoTo({ resource }: AccessToken, url: string | URL): boolean {
  return resource === undefined || covers(new URL(resource), new URL(url))
}

async function canRepeat(request: AttachRequest, sent: SentRequest<unknown>): Promise<boolean> {
  return (await sent.isRepeatable?.()) ?? (sent.request ?? request).repeatable ?? true
}

/** The scopes that an API requires of a token that is otherwise valid (RFC 6750, section 3.1). */
function scopesLacking(headers: ResponseHeaders): readonly string[] {
  const challenge = challengeWith(headerValue(headers, 'www-authenticate'), 'scope')?.parameters
  return challenge?.get('error') === 'insufficient_scope' ? scopes(challenge.get('scope')) : []
}

/** A provider of an application may lack the method for attachers. */
async function replacementOf(
  token: AccessToken,
  rejected: RejectedRequest,
  provider: Omit<TokenProvider, 'replaceRejected'> & Partial<Pick<TokenProvider, 'replaceRejected'>>,
): Promise<AccessToken | undefined> {
  if (provider.replaceRejected) return provider.replaceRejected(token, rejected)
  if (rejected.attempt === 2 || rejected.missingScopes) return undefined
  provider.reject(token)
  return rejected.repeatable ? provider.getToken({ signal: rejected.signal }) : undefined
}
