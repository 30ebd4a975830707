import { headerValue, type ResponseHeaders } from './headers.ts'
import { readErrorFacts } from './error-response.ts'

/** Whether an API refused the token itself. */
export interface ApiResponseClassification {
  /** True when a new token may help: the one sent is expired, revoked or unknown. */
  readonly tokenRejected: boolean
  /** The code that decided, if the answer gave one. */
  readonly reason?: string
}

const rejectedToken = /access.?token.?(?:expired|revoked|not.?approved)|invalid.?access.?token/i
const otherRefusal = /scope|api.?(?:product|resource)|spike.?arrest|quota/i

/**
 * Would a new token help? Reads the gateway's fault codes, then the challenges of `WWW-Authenticate`
 * (RFC 6750, section 3); a 401 that gives no reason counts as a refused token.
 *
 * @param body the answer's body as text, if it is at hand
 */
export function classifyApiResponse(
  status: number,
  headers: ResponseHeaders,
  body?: string,
): ApiResponseClassification {
  if (status < 400) return { tokenRejected: false }
  const fault = body === undefined ? undefined : readFault(body)
  if (fault !== undefined) return fault
  const challenges = readChallenges(headerValue(headers, 'www-authenticate') ?? '')
  const bearer = challenges.find((challenge) => challenge.scheme === 'bearer')
  if (bearer?.error) return { tokenRejected: bearer.error === 'invalid_token', reason: bearer.error }
  // A challenge for other schemes only: a bearer token is not what is asked for.
  return { tokenRejected: status === 401 && (bearer !== undefined || challenges.length === 0) }
}

function readFault(body: string): ApiResponseClassification | undefined {
  if (!body.includes('fault')) return undefined
  try {
    const facts = readErrorFacts(JSON.parse(body))
    if (facts === undefined) return undefined
    const fault = `${facts.vendorCode ?? ''} ${facts.faultText}`
    const tokenRejected = rejectedToken.test(fault)
    if (!tokenRejected && !otherRefusal.test(fault)) return undefined
    return facts.vendorCode ? { tokenRejected, reason: facts.vendorCode } : { tokenRejected }
  } catch {
    return undefined
  }
}

const challengePart = /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]*)))?/g

/** RFC 9110, section 11.6.1: a word without a value opens a challenge, the pairs after it belong to it. */
function readChallenges(header: string): { scheme: string; error?: string }[] {
  const challenges: { scheme: string; error?: string }[] = []
  for (const [, name = '', quoted, plain] of header.matchAll(challengePart)) {
    const value = quoted ?? plain
    if (value === undefined) challenges.push({ scheme: name.toLowerCase() })
    else if (name.toLowerCase() === 'error' && challenges.length > 0) challenges.at(-1)!.error = value
  }
  return challenges
}
