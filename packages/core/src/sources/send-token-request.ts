import { parseTokenResponse, type ParsedTokenResponse } from '../protocol/parse-token-response.ts'
import { readBody } from './read-body.ts'
import { TokenError } from '../protocol/token-error.ts'

/** The call signature of `fetch`, without what runtimes add to it. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Sends a token request and reads its answer; redirects are not followed, secrets would travel along. */
export async function sendTokenRequest(
  send: FetchLike | undefined,
  url: string | URL,
  init: RequestInit & { readonly signal: AbortSignal },
): Promise<ParsedTokenResponse> {
  let response: Response
  let body: string
  try {
    // Looked up now, so that a fetch replaced by instrumentation or a test's interceptor is used.
    response = await (send ?? globalThis.fetch)(url, { ...init, redirect: 'manual' })
    body = await readBody(response)
  } catch (error) {
    throw unreachable(error, url)
  }
  return parseTokenResponse(response.status, response.headers, body)
}

/** Says where and why; of a foreign error only its code or name, since its text may hold a secret. */
function unreachable(error: unknown, url: string | URL): TokenError {
  if (error instanceof TokenError) return error
  const address = String(url).replace(/[?#].*$/s, '')
  return new TokenError({
    kind: 'unavailable',
    message: `The token endpoint ${address} could not be reached (${errorCode(error)})`,
  })
}

/** The most telling code or name in a chain of causes, such as `ECONNREFUSED`. */
export function errorCode(error: unknown): string {
  let name = 'unknown error'
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth++) {
    const { code, name: own, cause, errors } = error as Record<string, unknown>
    if (typeof code === 'string' && /^[\w.-]{1,80}$/.test(code)) return code
    if (depth === 0 && typeof own === 'string' && /^[\w.-]{1,80}$/.test(own)) name = own
    error = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  }
  return name
}
