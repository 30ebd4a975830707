import { readChallenges } from '../protocol/challenges.ts'
import { readFault } from '../protocol/error-response.ts'
import { headerValue, type ResponseHeaders } from '../protocol/headers.ts'
import { waitFor } from '../runtime/wait.ts'

/** What an attacher reads of an API's response. A `Response` is one. */
export interface ApiResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  /** The final URL, after redirects. */
  readonly url?: string | undefined
  /** Reads the start of the body as text, at most 16 KiB; undefined if the body cannot be read without consuming it. */
  readonly readBody?: (() => string | undefined | Promise<string | undefined>) | undefined
}

/**
 * Creates the decision whether a response to a request with a token means that the API rejected the token: that of the
 * application, or that of {@link classifyApiResponse}.
 *
 * @param decide the application's; undefined, or none within 30 s, leaves the decision to the rules
 */
export function createRejectionCheck(
  decide: ((response: ApiResponse) => boolean | undefined | Promise<boolean | undefined>) | undefined,
): (response: ApiResponse, signal: AbortSignal | undefined) => Promise<boolean> {
  return async (response, signal) => {
    const { status, headers, url } = response
    const readBody = (): string | undefined | Promise<string | undefined> => response.readBody?.()
    // Code without types may return null, which decides nothing either.
    const deciding = decide?.({ status, headers, url, readBody }) ?? undefined
    const decision =
      typeof deciding === 'object'
        ? await waitFor(deciding, maxDecisionMs, signal, () => undefined)
        : deciding
    if (decision !== undefined && decision !== null) return decision
    if (status < 400) return false
    const isJson = /\bjson\b/i.test(headerValue(headers, 'content-type') ?? '')
    const body = isJson ? await readBody() : undefined
    return classifyApiResponse(status, headers, body).tokenRejected
  }
}

/** How long the application may take to decide. */
const maxDecisionMs = 30_000

/** Whether an API rejected the token itself. */
export interface ApiResponseClassification {
  /** True if a new token may help: the one that was sent has expired, was revoked or is unknown. */
  readonly tokenRejected: boolean
  /** The error code that decided, if the response holds one. */
  readonly reason?: string
}

const rejectedToken = /access.?token.?(?:expired|revoked|not.?approved)|invalid.?access.?token/i
const otherReason = /scope|api.?(?:product|resource)|spike.?arrest|quota/i
/** Schemes that no token satisfies. */
const otherSchemes = /^(?:basic|digest|negotiate|ntlm)$/
/** Codes in a challenge that concern the token, and those that a new token would not change. */
const tokenErrors = /^(?:invalid_token|(?:token_)?expired(?:_token)?|token_revoked)$/
const otherErrors = /^(?:insufficient_scope|invalid_request|insufficient_user_authentication|\w+_dpop_\w+)$/

/**
 * Decides whether a new token would help. Reads the gateway's fault codes, then the challenge in
 * `WWW-Authenticate` (RFC 6750, section 3). A 401 to a request with a token means that the token was
 * rejected, unless the challenge names another reason.
 *
 * @param body the response body as text, if it is available
 */
export function classifyApiResponse(
  status: number,
  headers: ResponseHeaders,
  body?: string,
): ApiResponseClassification {
  if (status < 400) return { tokenRejected: false }
  const fault = body?.includes('fault') ? classifyFault(body) : undefined
  if (fault !== undefined) return fault
  const challenges = readChallenges(headerValue(headers, 'www-authenticate'))
  const others = challenges.filter(({ scheme }) => !otherSchemes.test(scheme))
  // The server, or a proxy before it, requires a different kind of authentication.
  if (challenges.length > 0 && others.length === 0) return { tokenRejected: false }
  const withError = others.filter(({ parameters }) => parameters.get('error'))
  const decisive = withError.find(({ scheme }) => scheme === 'bearer') ?? withError[0]
  const reason = decisive?.parameters.get('error')
  if (reason === undefined) return { tokenRejected: status === 401 }
  const tokenRejected = status === 401 ? !otherErrors.test(reason) : tokenErrors.test(reason)
  return { tokenRejected, reason }
}

function classifyFault(body: string): ApiResponseClassification | undefined {
  try {
    const { vendorCode, text } = readFault(JSON.parse(body))
    const fault = `${vendorCode} ${String(text)}`
    const tokenRejected = rejectedToken.test(fault)
    if (!tokenRejected && !otherReason.test(fault)) return undefined
    return vendorCode ? { tokenRejected, reason: vendorCode } : { tokenRejected }
  } catch {
    return undefined
  }
}
