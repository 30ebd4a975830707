import { noStore } from '../runtime/environment.ts'
import type { TokenEndpointResponse } from '../protocol/token-binding.ts'
import { failureOf, TokenError } from '../protocol/token-error.ts'
import { explainProxy } from './explain-proxy.ts'
import { readBody } from './read-body.ts'

/** The call signature of `fetch`, without the additions of runtimes. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Sends a token request, and reads the response. */
export async function sendTokenRequest(
  send: FetchLike | undefined,
  url: string | URL,
  init: RequestInit & { readonly signal: AbortSignal },
  clientId?: string,
): Promise<TokenEndpointResponse> {
  try {
    const response = await fetchToken(send, url, init)
    return { status: response.status, headers: response.headers, body: await readBody(response) }
  } catch (error) {
    throw failureOf(error, (code) => unreachable(error, code, url, clientId, send === undefined))
  }
}

/** Requests a token, never from a cache. Redirects are not followed: they would carry the secret along. */
export async function fetchToken(
  send: FetchLike | undefined,
  url: string | URL,
  init: RequestInit,
): Promise<Response> {
  // Looked up now, so that a fetch replaced by instrumentation or by a test is used.
  return (send ?? globalThis.fetch)(url, { ...init, ...noStore(), redirect: 'manual' })
}

function unreachable(
  error: unknown,
  code: string,
  url: string | URL,
  clientId: string | undefined,
  isOwnFetch: boolean,
): TokenError {
  const tokenEndpoint = withoutQuery(url)
  return new TokenError(
    {
      kind: 'unavailable',
      message: [unreachableMessage(code, tokenEndpoint), isOwnFetch && explainProxy(error, code, url)]
        .filter(Boolean)
        .join(' '),
      clientId,
      tokenEndpoint,
    },
    Object.assign(new Error(code), { code }),
  )
}

function unreachableMessage(code: string, tokenEndpoint: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    const host = URL.canParse(tokenEndpoint) ? new URL(tokenEndpoint).hostname : tokenEndpoint
    return `Could not resolve ${host} (${code}). Check the URL of the token endpoint.`
  }
  return `Could not reach the token endpoint ${tokenEndpoint} (${code}).`
}

export function withoutQuery(url: string | URL): string {
  return String(url).replace(/[?#].*/s, '')
}
