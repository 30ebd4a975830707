import { errorOfResponse, readErrorFacts, reasonOf, type RequestIdentity } from './error-response.ts'
import { headerValue, type ResponseHeaders, retryAfter } from './headers.ts'
import { readTokenResponse, type TokenResponse } from './token-response.ts'
import { quoteReason } from './token-error.ts'

/** A token response together with the response's JSON as received, unknown members included. */
export type ParsedTokenResponse = TokenResponse & { readonly raw: Readonly<Record<string, unknown>> }

/** How {@link parseTokenResponse} reports errors. */
export interface ParseTokenResponseOptions extends RequestIdentity {
  /**
   * Every secret, assertion and token that was sent: replaced in the server's own reason, which then stands in the message.
   *
   * @default undefined: the message has no reason, because it may repeat what was sent
   */
  readonly secrets?: readonly string[] | undefined
}

/**
 * Parses the response of a token endpoint; pure. Accepts both formats of the platform's contract, that of RFC 6749,
 * section 5.1, and the form-encoded bodies of older servers. The body takes precedence over the status.
 *
 * @param body the response body as text
 * @throws {TokenError} for every response that holds an error or no valid token, with any status
 */
export function parseTokenResponse(
  status: number,
  headers: ResponseHeaders,
  body: string,
  options: ParseTokenResponseOptions = {},
): ParsedTokenResponse {
  const raw = parseObject(body) ?? parseForm(headers, body)
  const facts = readErrorFacts(raw ?? body)
  const response = raw && !facts && status >= 200 && status < 300 ? readTokenResponse(raw) : 'not_json'
  if (typeof response === 'object') return { ...response, raw: raw! }
  const error = errorOfResponse(status, facts, retryAfter(headers), response, options)
  const reason = options.secrets && reasonOf(facts, options.secrets)
  throw reason ? quoteReason(error, reason) : error
}

/** Parses a JSON object; undefined for anything else. */
function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(body.replace(/^\uFEFF/, '')) as Record<string, unknown>
    if (Object(value) !== value || Array.isArray(value)) return undefined
    // A member of this name would become the prototype of an object that it is copied into.
    Reflect.deleteProperty(value, '__proto__')
    return value
  } catch {
    return undefined
  }
}

function parseForm(headers: ResponseHeaders, body: string): Record<string, string> | undefined {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headerValue(headers, 'content-type') ?? '')
  return isForm ? Object.fromEntries(new URLSearchParams(body)) : undefined
}
