import { configurationError } from '../protocol/token-error.ts'
import { challengeWith } from '../protocol/challenges.ts'
import { scopes } from '../protocol/build-token-request.ts'
import { classifyApiResponse } from '../protocol/classify-api-response.ts'
import { headerValue } from '../protocol/headers.ts'
import type { TokenProvider } from '../provider/token-provider.ts'
import type { AccessToken } from '../provider/access-token.ts'
import { absoluteUrl, createOriginCheck } from './allowed-origins.ts'
import { readBodyStart } from './read-body-start.ts'
import type {
  ApiResponse,
  Attachment,
  AttachOptions,
  AttachRequest,
  TokenAttacher,
  TokenProviderSelector,
} from './token-attacher.ts'

const tokenCharacters = "[\\w!#$%&'*+.^`|~-]"

// A provider of an application may have only the methods of `TokenProvider`.
type AnyProvider = Omit<TokenProvider, 'replaceRejected' | 'report'> &
  Partial<Pick<TokenProvider, 'replaceRejected' | 'report'>>

/**
 * Creates the attacher that every adapter delegates to; for authors of adapters.
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createTokenAttacher(
  tokens: TokenProvider | TokenProviderSelector,
  options: AttachOptions,
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
  const isAllowed = createOriginCheck(allowedOrigins, allowInsecureRequests)
  if (!new RegExp(`^${tokenCharacters}+$`).test(header)) {
    throw configurationError('header must be the name of a request header.')
  }
  if (!new RegExp(`^${tokenCharacters}*$`).test(scheme)) {
    throw configurationError("scheme must be a single word, or '' for none.")
  }
  const prefix = scheme && `${scheme} `
  const select = (request: AttachRequest): AnyProvider | undefined =>
    typeof tokens === 'function'
      ? tokens({ url: fullUrl(request), method: request.method.toUpperCase() })
      : tokens
  const warned = new Set<string>()

  async function attachmentOf(
    provider: TokenProvider,
    token: AccessToken,
    request: AttachRequest,
    attempt: 1 | 2,
    nonce?: string,
  ): Promise<Attachment> {
    const { value, tokenType, binding } = token
    if (tokenType !== 'DPoP') return { headers: { [header]: prefix + value }, token, provider, attempt }
    if (binding === undefined) {
      throw configurationError(
        'The token is bound to a key (DPoP), but its source has no binding. Set binding: dpop().',
      )
    }
    const { method } = request
    const proof = await binding.prove({ method, url: fullUrl(request), accessToken: value, nonce })
    const headers = { ...proof, [header]: `${tokenType} ${value}` }
    return { headers, token, provider, attempt, isBound: true }
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

  async function replacementOf(
    provider: AnyProvider,
    token: AccessToken,
    url: string,
    repeatable: boolean,
    signal: AbortSignal | undefined,
  ): Promise<AccessToken | undefined> {
    if (provider.replaceRejected)
      return provider.replaceRejected(token, { url, attempt: 1, repeatable, signal })
    provider.reject(token)
    return repeatable ? provider.getToken({ signal }) : undefined
  }

  /** A token with the scopes that a response requires. Later requests get it as well. */
  async function widerTokenFor(
    { headers }: ApiResponse,
    { provider, token }: Attachment,
    url: string,
    signal: AbortSignal | undefined,
  ): Promise<AccessToken | undefined> {
    const challenge = challengeWith(headerValue(headers, 'www-authenticate'), 'scope')?.parameters
    if (challenge?.get('error') !== 'insufficient_scope') return undefined
    const missingScopes = scopes(challenge.get('scope'))
    const request = { url, attempt: 1, repeatable: true, missingScopes, signal } as const
    return (provider as AnyProvider).replaceRejected?.(token, request)
  }

  /** Explains a 401 that would otherwise be hard to debug. */
  function warnOnce(origin: string, reason: string): void {
    const { process, console } = globalThis as {
      process?: { env?: Record<string, string | undefined> }
      console?: { warn(message: string): void }
    }
    if (warned.has(origin) || /^(?:production|test)$/.test(process?.env?.['NODE_ENV'] ?? '')) return
    warned.add(origin)
    console?.warn(`Tokenwell: ${origin} responded with status 401. ${reason}`)
  }

  function explainMissingToken(request: AttachRequest): void {
    const { url, hasHeader } = request
    if (!isAllowed(url)) {
      warnOnce(originOf(url), 'No token was sent to it, because it is not in allowedOrigins.')
    } else if (hasHeader && !replaceHeader) {
      warnOnce(
        originOf(url),
        `No token was sent to it, because the request had a header ${header} already. Remove that header, or set replaceHeader: true.`,
      )
    } else if (select(request) === undefined) {
      warnOnce(originOf(url), 'No token was sent to it, because no token provider was selected for it.')
    }
  }

  return {
    header,
    replaceHeader,
    followsRedirects: header.toLowerCase() === 'authorization',
    checksEveryResponse: isTokenRejected !== undefined,
    async attach(request, signal) {
      const { url, repeatable = true, hasHeader = false } = request
      const allowed = isAllowed(url)
      const provider = allowed || typeof tokens !== 'function' ? select(request) : undefined
      if (hasHeader && !replaceHeader) {
        if (allowed) provider?.report?.({ type: 'token_skipped', origin: originOf(url) })
        return undefined
      }
      if (!allowed || provider === undefined) {
        provider?.report?.({ type: 'token_withheld', origin: originOf(url) })
        return undefined
      }
      const waitForReplacement = !repeatable || !retryOnRejection
      const wanted = { signal: signal ?? undefined, waitForReplacement }
      return attachmentOf(provider as TokenProvider, await provider.getToken(wanted), request, 1)
    },
    async retryAttachment(request, attachment, response, repeatable, signal) {
      if (attachment === undefined) {
        if (response.status === 401) explainMissingToken(request)
        return undefined
      }
      const { token, attempt, isNonceRepeat, isWider } = attachment
      const provider: AnyProvider = attachment.provider
      const url = String(absoluteUrl(response.url || request.url))
      // After a redirect to another origin, the request carried no token, so the response says nothing about it.
      if (originOf(url) !== originOf(request.url)) return undefined
      if (token.binding?.receive(new URL(url), response.headers) && repeatable && !isNonceRepeat) {
        // Its own nonce: other requests may have used up the last one that arrived.
        const nonce = headerValue(response.headers, 'dpop-nonce') ?? undefined
        return {
          ...(await attachmentOf(attachment.provider, token, request, attempt, nonce)),
          isNonceRepeat: true,
          isWider,
        }
      }
      if (response.status === 403 && repeatable && retryOnRejection && !isWider) {
        try {
          const next = await widerTokenFor(response, attachment, url, signal ?? undefined)
          if (next)
            return {
              ...(await attachmentOf(attachment.provider, next, request, attempt)),
              isNonceRepeat,
              isWider: true,
            }
        } catch {
          signal?.throwIfAborted()
          return undefined
        }
      }
      if ((response.status < 400 && !isTokenRejected) || !(await isRejected(response))) return undefined
      if (attempt === 2) {
        await provider.replaceRejected?.(token, { url, attempt, repeatable: false })
        return undefined
      }
      try {
        const sendAgain = retryOnRejection && repeatable
        const next = await replacementOf(provider, token, url, sendAgain, signal ?? undefined)
        // None, or the same: tokens are rejected so often that no new one is requested now.
        if (next === undefined || next.value === token.value) return undefined
        return { ...(await attachmentOf(attachment.provider, next, request, 2)), isNonceRepeat, isWider }
      } catch {
        // No new token is available: the API's own response says more.
        signal?.throwIfAborted()
        return undefined
      }
    },
  }
}

function fullUrl({ url, target }: AttachRequest): URL {
  return new URL(absoluteUrl(target?.() ?? url))
}

function originOf(value: string | URL): string {
  const url = absoluteUrl(value)
  return URL.canParse(url) ? new URL(url).origin : 'null'
}
