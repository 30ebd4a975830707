import { TokenError, type ClientAuthentication, type FetchLike } from '@tokenwell/core'
import {
  configurationError,
  createClientAuthentication,
  errorCode,
  noStore,
  readBody,
  retryAfter,
  secureUrl,
} from '@tokenwell/core/protocol'
import { orAborted } from '../runtime/deadline.ts'
import { tokenError } from '../rejection/token-verification-error.ts'
import type { IntrospectionOptions } from '../options/token-verifier-options.ts'
import type { TokenClaims } from './token-check.ts'

const platformPath = '/oauth/introspect'

export interface Introspector {
  /** @throws {TokenError} unless the response states clearly whether the token is active */
  introspect(token: string, signal: AbortSignal): Promise<TokenClaims | undefined>
}

/** Sends introspection requests (RFC 7662, section 2). */
export function createIntrospector(
  options: IntrospectionOptions & {
    readonly fetch?: FetchLike | undefined
    readonly allowInsecureRequests?: boolean | undefined
  },
): Introspector {
  const url = introspectionEndpoint(options)
  const address = `${url.origin}${url.pathname}`
  const { clientId } = options
  if (!clientId)
    throw configurationError(
      'introspection.clientId is missing. Set the client ID of the resource server that is registered for this API.',
    )
  const authentication = authenticationOf(options)

  const buildRequest = async (token: string, signal: AbortSignal): Promise<RequestInit> => {
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
    const headers = new Headers({ accept: 'application/json' })
    const request = { clientId, tokenEndpoint: url, body, headers, signal }
    await (await authentication()).authenticate(request)
    return { method: 'POST', headers, body, signal, redirect: 'manual', ...noStore() }
  }

  return {
    async introspect(token, signal) {
      let init: RequestInit
      try {
        init = await orAborted(signal, buildRequest(token, signal))
      } catch (error) {
        throw tokenError(
          'unavailable',
          `The credentials for the introspection endpoint ${address} are not available (${errorCode(error)}). Check introspection.clientSecret and introspection.clientAuthentication.`,
        )
      }
      let response: Response
      let text: string
      try {
        // Looked up now, so that a fetch replaced by instrumentation is used.
        response = await orAborted(signal, (options.fetch ?? globalThis.fetch)(url, init))
        text = await orAborted(signal, readBody(response))
      } catch (error) {
        throw tokenError(
          'unavailable',
          `Could not reach the introspection endpoint ${address} (${errorCode(error)}).`,
        )
      }
      const { status } = response
      if (status === 401) {
        throw new TokenError({
          kind: 'credentials',
          status,
          message: `The introspection endpoint ${address} rejected the credentials of client "${clientId}" (401). Check introspection.clientId and introspection.clientSecret.`,
        })
      }
      if (status !== 200) {
        const message = `The introspection endpoint ${address} responded with status ${status}.`
        throw new TokenError({
          kind: 'unavailable',
          status,
          message,
          retryAfterMs: retryAfter(response.headers),
        })
      }
      return readIntrospection(text, address)
    },
  }
}

function introspectionEndpoint({
  authUrl,
  introspectionUrl,
  allowInsecureRequests,
}: Parameters<typeof createIntrospector>[0]): URL {
  if ((authUrl === undefined) === (introspectionUrl === undefined)) {
    throw configurationError('introspection requires authUrl or introspectionUrl, but not both.')
  }
  if (introspectionUrl !== undefined) {
    return secureUrl('introspection.introspectionUrl', introspectionUrl, allowInsecureRequests)
  }
  const url = secureUrl('introspection.authUrl', authUrl!, allowInsecureRequests)
  url.pathname = url.pathname.replace(/\/+$/, '') + platformPath
  return url
}

/** Strict: a response that deviates from RFC 7662, section 2.2, never allows a request. */
function readIntrospection(text: string, address: string): TokenClaims | undefined {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw tokenError('malformed', `The response of the introspection endpoint ${address} is not JSON.`)
  }
  const claims = (typeof body === 'object' && body !== null ? body : {}) as TokenClaims
  const { active, exp, nbf } = claims
  if (typeof active !== 'boolean') {
    throw tokenError(
      'malformed',
      `The response of the introspection endpoint ${address} has no boolean "active".`,
    )
  }
  for (const time of [exp, nbf]) {
    if (active && time !== undefined && !Number.isFinite(time)) {
      throw tokenError(
        'malformed',
        `The response of the introspection endpoint ${address} has an "exp" or "nbf" that is not a number.`,
      )
    }
  }
  return active ? claims : undefined
}

/** How this API authenticates; a secret that a function returns is looked up for each request. */
function authenticationOf({
  clientSecret = '',
  clientAuthentication = 'client_secret_basic',
}: IntrospectionOptions): () => ClientAuthentication | Promise<ClientAuthentication> {
  if (typeof clientAuthentication === 'object') return () => clientAuthentication
  if (!['client_secret_basic', 'client_secret_post', 'none'].includes(clientAuthentication)) {
    throw configurationError(
      "introspection.clientAuthentication must be 'client_secret_basic', 'client_secret_post', 'none' or a ClientAuthentication object.",
    )
  }
  if (!clientSecret && clientAuthentication !== 'none') {
    throw configurationError(
      'introspection.clientSecret is missing. Set the client secret of the resource server that is registered for this API.',
    )
  }
  if (typeof clientSecret === 'function') {
    return async () => createClientAuthentication(clientAuthentication, await clientSecret())
  }
  const authentication = createClientAuthentication(clientAuthentication, clientSecret)
  return () => authentication
}
