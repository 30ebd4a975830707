import { configurationError } from '../protocol/configuration-error.ts'
import { classifyApiResponse } from '../protocol/classify-api-response.ts'
import { headerValue } from '../protocol/headers.ts'
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
import { absoluteUrl, createOriginCheck } from './allowed-origins.ts'
import { readBodyStart } from './read-body-start.ts'
import {
  lastAttachment,
  type ApiResponse,
  type AttacherInternals,
  type Attachment,
  type AttachOptions,
  type AttachRequest,
  type TokenAttacher,
} from './token-attacher.ts'

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
    allowInsecureRequests = false,
  } = options ?? {}
  const { isAllowed, isExact } = createOriginCheck(allowedOrigins, allowInsecureRequests)
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
        'The token is bound to a key (DPoP), but its source has no binding. Set binding: dpop().',
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
      `Tokenwell: ${origin} responded with status 401. No token was sent to it, because it is not in allowedOrigins.`,
    )
  }

  const attacher: TokenAttacher & AttacherInternals = {
    header,
    replaceHeader,
    followsRedirects: header.toLowerCase() === 'authorization',
    checksEveryResponse: isTokenRejected !== undefined,
    [lastAttachment]: (url) =>
      last && isExact(url) && internals[freshToken]?.(!retryOnRejection) === last.token ? last : undefined,
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
    async retryAttachment(request, attachment, response, repeatable, signal) {
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
  return attacher
}

function originOf(value: string | URL): string {
  const url = absoluteUrl(value)
  return URL.canParse(url) ? new URL(url).origin : 'null'
}
