import type { AccessToken } from '../tokens/access-token.ts'
import { absoluteUrl, createOriginTest, type AllowedOrigin } from './allowed-origins.ts'
import { classifyApiResponse } from '../protocol/classify-api-response.ts'
import { emitEvent, freshToken, type ProviderInternals } from '../provider/provider-internals.ts'
import { readStart } from './read-body-start.ts'
import { headerValue, type ResponseHeaders } from '../protocol/headers.ts'
import { configurationError } from '../protocol/secure-url.ts'
import type { TokenProvider } from '../provider/token-provider.ts'

/** Where tokens may go, and how they travel. */
export interface AttachOptions {
  /** The only places a token is sent to: exact origins, `https://*.example.com`, or functions. */
  readonly allowedOrigins: readonly AllowedOrigin[]
  /** Request header that carries the token. @default 'Authorization' */
  readonly header?: string | undefined
  /** Word before the token; empty for the bare token. @default 'Bearer' */
  readonly scheme?: string | undefined
  /** Whether a request whose token was refused is sent once more with a new one. @default true */
  readonly retryOnRejection?: boolean | undefined
}

/** A token on its way: the header to set. */
export interface Attachment {
  /** Name of the header, as configured. */
  readonly header: string
  /** Its value; holds the token. */
  readonly value: string
  readonly token: AccessToken
}

/** An answer of an API, as far as deciding about its token needs it. A `Response` is one as it is. */
export interface ApiResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  /** Where the answer came from in the end, after redirects. */
  readonly url?: string | undefined
  /** Reads the beginning of the body as text, 16 KiB at most; undefined where that would disturb it. */
  readonly readBody?: (() => string | undefined | Promise<string | undefined>) | undefined
}

/** The one place that decides where a token may go, what an answer means, and whether to send again. */
export interface TokenAttacher {
  /** Name of the header that carries the token. */
  readonly header: string
  /**
   * Whether clients drop the header themselves on a redirect to another origin. They do so for
   * `Authorization` alone: with any other, redirects must not be followed.
   */
  readonly followsRedirects: boolean
  /**
   * The token for a request to `url` (relative to the page, in a browser), or undefined where none may go:
   * send the request as it is. Answers at once where a fresh token is at hand.
   *
   * @param signal given as a function, it is asked for only if there is something to wait for
   */
  attach(
    url: string | URL,
    signal?: AbortSignal | null | (() => AbortSignal | undefined),
  ): Attachment | undefined | Promise<Attachment | undefined>
  /**
   * After the answer: tells the provider of a refused token, and returns another to send the request with
   * once more, or undefined where the answer is the caller's.
   *
   * @param repeatable whether the request can be sent again as it was
   */
  reattach(
    attachment: Attachment,
    response: ApiResponse | Response,
    repeatable: boolean,
    signal?: AbortSignal | null | (() => AbortSignal | undefined),
  ): Promise<Attachment | undefined>
}

/**
 * Makes the attacher that every adapter is a thin skin over; for authors of adapters.
 *
 * @throws {TokenError} of kind `configuration`, naming the option
 */
export function createTokenAttacher(tokens: TokenProvider, options: AttachOptions): TokenAttacher {
  const { header = 'Authorization', scheme = 'Bearer', retryOnRejection = true } = options
  const allowed = createOriginTest(options.allowedOrigins)
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    throw configurationError('header must be the name of a request header')
  if (!/^[\w!#$%&'*+.^`|~-]*$/.test(scheme))
    throw configurationError("scheme must be one word, or '' for none")
  const prefix = scheme && `${scheme} `
  const internals = tokens as ProviderInternals
  let last: Attachment | undefined

  const attachment = (token: AccessToken): Attachment => {
    if (last?.token !== token) last = { header, value: prefix + token.value, token }
    return last
  }

  return {
    header,
    followsRedirects: header.toLowerCase() === 'authorization',
    attach(address, signal) {
      if (!allowed(address)) {
        const url = absoluteUrl(address)
        const origin = URL.canParse(url) ? new URL(url).origin : 'null'
        internals[emitEvent]?.({ type: 'token_withheld', origin })
        return undefined
      }
      const given = typeof signal === 'function' ? undefined : signal
      const fresh = given?.aborted ? undefined : internals[freshToken]?.()
      if (fresh) return attachment(fresh)
      const awaited = typeof signal === 'function' ? signal() : signal
      return tokens.getToken(awaited ? { signal: awaited } : undefined).then(attachment)
    },
    async reattach({ token }, response, repeatable, signal) {
      const { status, headers, url } = response
      // After a redirect to another origin the token was not sent: that answer is not about it.
      if (status < 400 || (url && !allowed(url))) return undefined
      const body = isJson(headers) ? await readBody(response) : undefined
      if (!classifyApiResponse(status, headers, body).tokenRejected) return undefined
      tokens.reject(token)
      if (!retryOnRejection || !repeatable) return undefined
      const awaited = typeof signal === 'function' ? signal() : signal
      try {
        const next = await tokens.getToken(awaited ? { signal: awaited } : undefined)
        // The same again: refusals came so fast that no new one is asked for.
        return next.value === token.value ? undefined : attachment(next)
      } catch {
        // No new token: the API's own answer tells the caller more.
        awaited?.throwIfAborted()
        return undefined
      }
    },
  }
}

function readBody(response: ApiResponse | Response): string | undefined | Promise<string | undefined> {
  return 'clone' in response ? readStart(response) : response.readBody?.()
}

function isJson(headers: ResponseHeaders): boolean {
  return /\bjson\b/i.test(headerValue(headers, 'content-type') ?? '')
}
