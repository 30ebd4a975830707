import { TokenError, type TokenErrorKind } from './token-error.ts'

/** The codes and texts of an error response, in any of the known formats. */
export interface ErrorFacts {
  /** `error` of RFC 6749, section 5.2, or the gateway's `ErrorCode`. */
  readonly oauthError?: string | undefined
  /** The gateway's `fault.detail.errorcode`. */
  readonly vendorCode?: string | undefined
  /** The gateway's `fault.faultstring` or `Error`. */
  readonly faultText: string
  /** `error_description`. */
  readonly description?: string | undefined
}

/** The gateway's fault: its code, and its text, which may hold anything. */
export function readFault(body: unknown): {
  readonly vendorCode: string | undefined
  readonly text: unknown
} {
  const { fault } = Object(body)
  return { vendorCode: readCode(fault?.detail?.errorcode), text: fault?.faultstring }
}

/** Reads the error members of a response: RFC 6749, the gateway's fault, or its older flat form. */
export function readErrorFacts(body: unknown): ErrorFacts | undefined {
  // Some gateways send XML or plain text, which may mention a quota.
  if (typeof body === 'string') {
    const [faultText] = /spike arrest violation|quota ?violation/i.exec(body.slice(0, 4096)) ?? []
    return faultText === undefined ? undefined : { faultText }
  }
  const { error, error_description: description, ErrorCode, Error: text, fault } = Object(body)
  if (!error && !ErrorCode && !fault) return undefined
  const { vendorCode, text: faultText } = readFault(body)
  return {
    oauthError: readCode(ErrorCode ?? error),
    vendorCode,
    faultText: [faultText, text]
      .filter((part) => typeof part === 'string')
      .join(' ')
      .slice(0, 1000),
    description: typeof description === 'string' ? description : undefined,
  }
}

// Surrogate pairs stay whole.
const longReason = /^(.{299}).{2,}$/su

/** The server's own reason: one line of at most 300 characters, without anything that was sent or looks like a token. */
export function reasonOf(facts: ErrorFacts | undefined, secrets: readonly string[]): string {
  let text = facts?.description ?? facts?.faultText ?? ''
  for (const secret of secrets) text = text.replaceAll(secret, '[redacted]')
  // Control characters, and those that change the direction of the text after them.
  return text
    .replace(/[\w.~+/=-]{16,}/g, (word) => (looksLikeToken(word) ? '[redacted]' : word))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
    .replace(longReason, '$1…')
}

/** A server may repeat a token that it has issued. */
function looksLikeToken(word: string): boolean {
  return (/[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word)) || /\b[0-9a-f]{32,}\b/.test(word)
}

function readCode(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.-]{1,80}$/.test(value) ? value : undefined
}

const throttledFault = /spike.?arrest|quota.?violation|rate.?limit/i
const credentialsFault =
  /invalid.?(?:client|api.?key|consumer.?key)|client.?(?:id|identifier|secret|credentials) is invalid|(?:app|developer|company)\w*.?not.?(?:approved|active)/i

const kindOfOAuthError: Record<string, TokenErrorKind> = {
  invalid_client: 'credentials',
  unauthorized_client: 'credentials',
  access_denied: 'credentials',
  invalid_grant: 'credentials',
  unsupported_grant_type: 'configuration',
  invalid_scope: 'configuration',
  invalid_target: 'configuration',
  slow_down: 'throttled',
  temporarily_unavailable: 'unavailable',
  server_error: 'unavailable',
}

/**
 * Classifies a response that is not a token response. The body takes precedence over the status: this
 * family of gateways reports bad credentials and exhausted quotas under 400, 401, 403, 429 and 500 alike.
 */
function kindOfFailure(status: number, facts: ErrorFacts | undefined): TokenErrorKind {
  const fault = `${facts?.vendorCode ?? ''} ${facts?.faultText ?? ''}`
  if (throttledFault.test(fault)) return 'throttled'
  if (credentialsFault.test(fault)) return 'credentials'
  const code = facts?.oauthError
  if (code !== undefined && Object.hasOwn(kindOfOAuthError, code)) return kindOfOAuthError[code]!
  if (status === 401) return 'credentials'
  return code === 'invalid_request' ? 'configuration' : kindOfStatus(status)
}

/** By the status alone. */
export function kindOfStatus(status: number): TokenErrorKind {
  if (status === 429) return 'throttled'
  if (status === 408 || status === 425 || status >= 500) return 'unavailable'
  return isRedirect(status) || status >= 400 ? 'configuration' : 'malformed'
}

/** Whether this is a redirect that `fetch` did not follow; browsers report it as status 0. */
export function isRedirect(status: number): boolean {
  return status === 0 || (status >= 300 && status < 400)
}

/** Why a successful response holds no token. */
export type ResponseProblem = 'not_json' | 'access_token' | 'token_type'

const problems: Record<ResponseProblem, string> = {
  not_json: 'is not JSON',
  access_token: 'has no valid access_token',
  token_type: 'has an unsupported token_type',
}

/** Names the client and the token endpoint in errors. */
export interface RequestIdentity {
  /** Client ID, or the provider's label. */
  readonly client?: string | undefined
  readonly clientId?: string | undefined
  /** URL without query. */
  readonly tokenEndpoint?: string | undefined
  /** What proved the right to a token instead of the client's credentials, such as `assertion`. */
  readonly proof?: string | undefined
}

/** The error for a response that is not a token response. */
export function errorOfResponse(
  status: number,
  facts: ErrorFacts | undefined,
  retryAfterMs: number | undefined,
  problem: ResponseProblem,
  { client, clientId, tokenEndpoint, proof }: RequestIdentity,
): TokenError {
  const { oauthError, vendorCode } = facts ?? {}
  const kind = kindOfFailure(status, facts)
  const codes = [status || 'redirect', oauthError, vendorCode].filter(Boolean).join(' ')
  const endpoint = tokenEndpoint ? `The token endpoint ${tokenEndpoint}` : 'The token endpoint'
  const at = tokenEndpoint ? ` at ${tokenEndpoint}` : ''
  const messages: Record<TokenErrorKind, string> = {
    credentials:
      proof && oauthError === 'invalid_grant'
        ? `The token endpoint rejected the ${proof} (${codes}). Check its issuer, audience, subject and lifetime${client ? ` for "${client}"` : ''}${at}.`
        : `The token endpoint rejected the client credentials (${codes}). Check the client ID, secret and approval${client ? ` of "${client}"` : ''}${at}.`,
    configuration: isRedirect(status)
      ? `${endpoint} redirected the request (${codes}). Redirects are not followed. Check the URL.`
      : `${endpoint} rejected the request (${codes}). Check the URL, grant and scope${client ? ` of "${client}"` : ''}.`,
    throttled: `${endpoint} rate-limited the request (${codes}).`,
    unavailable: `${endpoint} is unavailable (${codes}).`,
    malformed: `The response ${problems[problem]} (${codes}). Check the URL of the token endpoint${tokenEndpoint ? `, ${tokenEndpoint}` : ''}.`,
    aborted: '',
  }
  return new TokenError({
    kind,
    message: messages[kind],
    status,
    oauthError,
    vendorCode,
    retryAfterMs: kind === 'throttled' || kind === 'unavailable' ? retryAfterMs : undefined,
    clientId,
    tokenEndpoint,
  })
}
