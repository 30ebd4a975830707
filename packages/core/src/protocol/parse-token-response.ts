import {
  errorOfResponse,
  readErrorFacts,
  reasonOf,
  redactText,
  type RequestIdentity,
} from './error-response.ts'
import { headerValue, type ResponseHeaders } from './headers.ts'
import { readTokenResponse, type TokenResponse } from './token-response.ts'
import { changeTokenError, quoteReason, type TokenError } from './token-error.ts'

/** A token response together with the response's JSON as received, unknown members included. */
export type ParsedTokenResponse = TokenResponse & { readonly raw: Readonly<Record<string, unknown>> }

/** How {@link parseTokenResponse} reports errors. */
export interface ParseTokenResponseOptions extends RequestIdentity {
  /**
   * Every secret, assertion and token that was sent: replaced in the server's own reason, which then stands in the message, and in
   * the headers of the error.
   *
   * @default undefined: the error has neither, because they may repeat what was sent
   */
  readonly secrets?: readonly string[] | undefined
  /** Further values of `token_type` whose tokens are sent as Bearer; case does not matter. @default none */
  readonly tokenTypes?: readonly string[] | undefined
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
  const { secrets } = options
  const isSuccess = raw && !facts.isError && status >= 200 && status < 300
  const response = isSuccess ? readTokenResponse(raw, options.tokenTypes) : 'not_json'
  if (typeof response === 'object') return { ...response, raw: raw! }
  let problem = problems[response]
  const identified = (error: TokenError): TokenError =>
    secrets ? changeTokenError(error, { headers: identifyingHeaders(headers, secrets) }) : error
  if (response !== 'token_type') {
    const error = identified(errorOfResponse(status, facts, headers, options, problem))
    const reason = secrets && reasonOf(facts, secrets)
    throw reason ? quoteReason(error, reason) : error
  }
  const type: unknown = raw?.['token_type']
  if (secrets && typeof type === 'string' && type) problem += `, "${redactText(type.slice(0, 80), secrets)}"`
  const advice = 'If tokens of this type are sent as Bearer, add it to tokenTypes.'
  throw identified(errorOfResponse(status, facts, headers, options, problem, advice))
}

/** Headers by which operators find a response in their logs. */
const identifying = [
  'date',
  'retry-after',
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-ms-request-id',
  'cf-ray',
]

function identifyingHeaders(
  headers: ResponseHeaders,
  secrets: readonly string[],
): Record<string, string> | undefined {
  const found = identifying.flatMap((name) => {
    const value = headerValue(headers, name) ?? ''
    // A server may repeat what it received in a request ID too.
    const mayBeShown = /^[ -~]{1,100}$/.test(value) && !secrets.some((secret) => value.includes(secret))
    return mayBeShown ? [[name, value]] : []
  })
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

const problems = {
  not_json: 'is not JSON',
  access_token: 'has no valid access_token',
  token_type: 'has an unsupported token_type',
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
