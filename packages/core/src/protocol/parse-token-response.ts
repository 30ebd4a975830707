import { retryAfter, type ResponseHeaders } from './headers.ts'
import { readErrorFacts, tokenFailure } from './error-response.ts'
import { readTokenResponse, type TokenResponse } from './token-response.ts'

/** A token response together with the answer as it came, members unknown to us included. */
export type ParsedTokenResponse = TokenResponse & { readonly raw: Readonly<Record<string, unknown>> }

/**
 * Reads the answer of a token endpoint; pure. Both forms of the platform's contract and RFC 6749,
 * section 5.1, become one {@link TokenResponse}. The body decides before the status.
 *
 * @param body the answer's body as text
 * @throws {TokenError} for any answer that carries an error or no usable token, whatever its status
 */
export function parseTokenResponse(
  status: number,
  headers: ResponseHeaders,
  body: string,
): ParsedTokenResponse {
  const raw = parseObject(body)
  const facts = readErrorFacts(raw ?? body)
  const response = raw && !facts && status >= 200 && status < 300 ? readTokenResponse(raw) : undefined
  if (typeof response === 'object') return { ...response, raw: raw! }
  throw tokenFailure(status, facts, retryAfter(headers), response)
}

function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.replace(/^\uFEFF/, ''))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    // A member of this name would become the prototype of whatever the object is copied into.
    if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__')
    return value as Record<string, unknown>
  } catch {
    return undefined
  }
}
