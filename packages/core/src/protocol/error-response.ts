import { rateLimitReset, retryAfter, type ResponseHeaders } from './headers.ts'
import { TokenError, type TokenErrorKind } from './token-error.ts'

/** The codes and texts of an error response, in any of the known formats. */
export interface ErrorFacts {
  /** Whether the body reports an error, which it may do with any status. */
  readonly isError: boolean
  /** `error` of RFC 6749, section 5.2, or the gateway's `ErrorCode`. */
  readonly oauthError?: string | undefined
  /** The gateway's `fault.detail.errorcode`. */
  readonly vendorCode?: string | undefined
  /** The gateway's `fault.faultstring` or `Error`. */
  readonly faultText: string
  /** `error_description`, or what other servers have instead. */
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

/** Reads the error members of a response: RFC 6749, the gateway's fault or its older flat form, and those of other servers. */
export function readErrorFacts(body: unknown): ErrorFacts {
  // Some gateways send XML or plain text, which may mention a quota.
  if (typeof body === 'string') {
    const [faultText] = /spike arrest violation|quota ?violation/i.exec(body.slice(0, 4096)) ?? []
    return { isError: faultText !== undefined, faultText: faultText ?? '' }
  }
  const { error, errorCode, ErrorCode, Error: text, fault, ok, ...others } = Object(body)
  const { error_description: description, reason, message, errorSummary, detail } = others
  const { vendorCode, text: faultText } = readFault(body)
  const details = Object(error)
  return {
    isError: [error, errorCode, ErrorCode, fault].some(isPresent) || ok === false,
    oauthError: [ErrorCode, error, errorCode, details.code, details.status].map(readCode).find(Boolean),
    vendorCode,
    faultText: [faultText, text]
      .filter((part) => typeof part === 'string')
      .join(' ')
      .slice(0, 1000),
    description: [description, reason, message, errorSummary, details.message, detail]
      .map(readText)
      .find(Boolean),
  }
}

/** Some servers send an empty one with a token. */
function isPresent(error: unknown): boolean {
  return typeof error === 'object' ? Object.keys(Object(error)).length > 0 : Boolean(error)
}

/** A text, or that in an object. */
function readText(value: unknown): string | undefined {
  return [value, ...Object.values(Object(value))].find((part) => typeof part === 'string')
}

/** The server's own reason. */
export function reasonOf({ description, faultText }: ErrorFacts, secrets: readonly string[]): string {
  return redactText(description ?? faultText, secrets)
}

/** Control characters, which a terminal obeys, and those that change the direction of the text after them. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** What a server named, in quotation marks, for a message: at most 200 characters. */
export function quote(value: unknown): string {
  return (JSON.stringify(value) ?? 'no value').replace(unprintable, ' ').slice(0, 200)
}

/** One line of at most `length` characters, without anything that was sent or looks like a token. */
export function redactText(text: string, secrets: readonly string[], length = 300): string {
  // The longest first: one may contain another.
  const longestFirst = [...secrets].sort((one, other) => other.length - one.length)
  for (const secret of longestFirst) text = text.replaceAll(secret, '[redacted]')
  const line = text
    .replace(/[\w.~+/=-]{16,}/g, (word) => (looksLikeToken(word) ? '[redacted]' : word))
    .replace(unprintable, ' ')
    .trim()
  // Surrogate pairs stay whole.
  return line.replace(new RegExp(`^(.{${length - 1}}).{2,}$`, 'su'), '$1…')
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
  /(?:invalid|incorrect|bad).?(?:client|api.?key|consumer.?key)|client.?(?:id|identifier|secret|credentials) is invalid|(?:app|developer|company)\w*.?not.?(?:approved|active)/i

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
function kindOfFailure(status: number, facts: ErrorFacts, isBare: boolean): TokenErrorKind {
  const { vendorCode = '', oauthError: code = '', faultText, isError } = facts
  const fault = `${vendorCode} ${code} ${faultText}`
  if (throttledFault.test(fault)) return 'throttled'
  if (credentialsFault.test(fault)) return 'credentials'
  if (Object.hasOwn(kindOfOAuthError, code)) return kindOfOAuthError[code]!
  if (isBare) return 'configuration'
  if (status === 401) return 'credentials'
  if (code === 'invalid_request') return 'configuration'
  // An error with a status that says the opposite.
  return kindOfStatus(isError && status >= 200 && status < 300 ? 400 : status)
}

/**
 * Whether this is a 401 that says nothing about a client, as APIs and web servers respond: it is not from a token endpoint. A server
 * that got the credentials in a header may reject them like this.
 */
function isBareChallenge(status: number, facts: ErrorFacts, { usesHeader }: RequestIdentity): boolean {
  const { isError, description, faultText } = facts
  return status === 401 && !usesHeader && !isError && description === undefined && faultText === ''
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

/** Names the client and the token endpoint in errors. */
export interface RequestIdentity {
  /** Client ID, or the provider's label. */
  readonly client?: string | undefined
  readonly clientId?: string | undefined
  /** URL without query. */
  readonly tokenEndpoint?: string | undefined
  /** What proved the right to a token instead of the client's credentials, such as `assertion`. */
  readonly proof?: string | undefined
  /** Whether the client authenticated in the `Authorization` header. @default false */
  readonly usesHeader?: boolean | undefined
}

/**
 * The error for a response that is not a token response.
 *
 * @param problem why a successful response holds no token, such as `is not JSON`
 * @param advice how to fix that @default to check the URL
 */
export function errorOfResponse(
  status: number,
  facts: ErrorFacts,
  headers: ResponseHeaders,
  identity: RequestIdentity,
  problem: string,
  advice?: string,
): TokenError {
  const { oauthError, vendorCode } = facts
  const { client, clientId, tokenEndpoint, proof } = identity
  const isBare = isBareChallenge(status, facts, identity)
  const kind = kindOfFailure(status, facts, isBare)
  const codes = [status || 'redirect', oauthError, vendorCode].filter(Boolean).join(' ')
  const endpoint = tokenEndpoint ? `The token endpoint ${tokenEndpoint}` : 'The token endpoint'
  const at = tokenEndpoint ? ` at ${tokenEndpoint}` : ''
  // A client with a label is named with the ID that was sent, too: it may be that of another environment.
  const label = clientId && client !== clientId && client ? ` (${client})` : ''
  const of = clientId || client ? ` of "${clientId || client}"${label}` : ''
  const messages: Record<TokenErrorKind, string> = {
    credentials:
      oauthError === 'unauthorized_client'
        ? `${endpoint} did not authorize the client for this grant (${codes}). Check the approval and the grants${of}.`
        : proof && oauthError === 'invalid_grant'
          ? `The token endpoint rejected the ${proof} (${codes}). Check its issuer, audience, subject and lifetime${of.replace(' of', ' for')}${at}.`
          : `The token endpoint rejected the client credentials (${codes}). Check the client ID, secret and approval${of}${at}.`,
    configuration: isRedirect(status)
      ? `${endpoint} redirected the request (${codes}). Redirects are not followed. Check the URL.`
      : isBare
        ? `${tokenEndpoint ?? 'This'} is not a token endpoint: it responded with status 401 and no OAuth error. Check the URL.`
        : `${endpoint} rejected the request (${codes}). Check the URL, grant and scope${of}.`,
    throttled: `${endpoint} rate-limited the request (${codes}).`,
    unavailable: `${endpoint} is unavailable (${codes}).`,
    malformed: `The response ${problem} (${codes}). ${advice ?? `Check the URL of the token endpoint${tokenEndpoint ? `, ${tokenEndpoint}` : ''}.`}`,
    aborted: '',
  }
  const waits: Partial<Record<TokenErrorKind, number | undefined>> = {
    throttled: retryAfter(headers) ?? rateLimitReset(headers),
    unavailable: retryAfter(headers),
  }
  return new TokenError({
    kind,
    message: messages[kind],
    status,
    oauthError,
    vendorCode,
    retryAfterMs: waits[kind],
    clientId,
    tokenEndpoint,
  })
}
