import { TokenError, type TokenErrorKind } from './token-error.ts'

/** The codes and texts that an error answer carries, from whichever of the known shapes it has. */
export interface ErrorFacts {
  /** `error` of RFC 6749, section 5.2, or the gateway's `ErrorCode`. */
  readonly oauthError?: string | undefined
  /** The gateway's `fault.detail.errorcode`. */
  readonly vendorCode?: string | undefined
  /** The gateway's `fault.faultstring` or `Error`; for deciding only, never shown. */
  readonly faultText: string
}

const codeShape = /^[\w.-]{1,80}$/

/** Reads the error members of an answer: RFC 6749, the gateway's fault, or its older flat form. */
export function readErrorFacts(answer: unknown): ErrorFacts | undefined {
  // Some gateways answer with XML or plain text; a quota's name is known in there too.
  if (typeof answer === 'string') {
    const [faultText] = /spike arrest violation|quota ?violation/i.exec(answer.slice(0, 4096)) ?? []
    return faultText === undefined ? undefined : { faultText }
  }
  const { error, ErrorCode, Error: text, fault } = Object(answer)
  if (!error && !ErrorCode && !fault) return undefined
  const { faultstring, detail } = Object(fault)
  return {
    oauthError: code(ErrorCode ?? error),
    vendorCode: code(detail?.errorcode),
    faultText: [faultstring, text]
      .filter((part) => typeof part === 'string')
      .join(' ')
      .slice(0, 1000),
  }
}

function code(value: unknown): string | undefined {
  return typeof value === 'string' && codeShape.test(value) ? value : undefined
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
 * What an answer other than a token response means. The body decides before the status: this family of
 * gateways reports bad credentials and exhausted quotas under 400, 401, 403, 429 and 500 alike.
 */
function kindOfFailure(status: number, facts: ErrorFacts | undefined): TokenErrorKind {
  const fault = `${facts?.vendorCode ?? ''} ${facts?.faultText ?? ''}`
  if (throttledFault.test(fault)) return 'throttled'
  if (credentialsFault.test(fault)) return 'credentials'
  const code = facts?.oauthError
  if (code !== undefined && Object.hasOwn(kindOfOAuthError, code)) return kindOfOAuthError[code]!
  if (status === 401) return 'credentials'
  if (code === 'invalid_request') return 'configuration'
  if (status === 429) return 'throttled'
  if (status === 408 || status === 425 || status >= 500) return 'unavailable'
  return status >= 300 ? 'configuration' : 'malformed'
}

const meanings: Record<TokenErrorKind, string> = {
  credentials: 'refused the credentials; check client ID, secret and approval',
  configuration: 'refused the request; check its address, grant and scope',
  throttled: 'asks for fewer requests',
  unavailable: 'is unavailable',
  malformed: 'sent no usable token response',
  aborted: '',
}

/**
 * The error for an answer that is no token response.
 *
 * @param member the member that made it unusable
 */
export function tokenFailure(
  status: number,
  facts: ErrorFacts | undefined,
  retryAfterMs: number | undefined,
  member?: string,
): TokenError {
  const kind = kindOfFailure(status, facts)
  const { oauthError, vendorCode } = facts ?? {}
  const details = [`status ${status}`, oauthError, vendorCode, member && `see its ${member}`].filter(Boolean)
  return new TokenError({
    kind,
    message: `The token endpoint ${meanings[kind]} (${details.join(', ')})`,
    status,
    oauthError,
    vendorCode,
    retryAfterMs: kind === 'throttled' || kind === 'unavailable' ? retryAfterMs : undefined,
  })
}
