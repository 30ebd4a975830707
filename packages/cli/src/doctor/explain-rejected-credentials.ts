import type { TokenError } from '@tokenwell/core'
import type { Connection } from '../configuration/resolve-connection.ts'
import { failureDetails, findingsOf, type Finding } from './finding.ts'
import { formatDuration } from './durations.ts'
import type { SentAssertion } from './observe-token-request.ts'

const request = findingsOf('request')

/** Explains why the service rejected the credentials. The body is searched for known phrases. */
export function explainRejectedCredentials(
  error: TokenError,
  body: string,
  { clientId, clientSecret = '', origins }: Connection,
  usesBasic = false,
): Finding {
  const { oauthError, vendorCode } = error
  const details = failureDetails(error)
  const mentions = (phrase: RegExp): boolean => phrase.test(`${vendorCode} ${body}`)
  if (mentions(/secret[^.]{0,100}expired|expired[\w ]*secret|credentials?[\w ]*expired|KeyExpired/i)) {
    return request.problem(
      'secret_expired',
      `The client secret has expired (${details}).`,
      'Create a new secret in the developer portal, and replace the old one everywhere.',
    )
  }
  // Entra ID calls a client ID that it does not know unauthorized_client.
  if (mentions(/application[^.]{0,100}was not found|unknown client/i)) {
    return request.problem(
      'unknown_client',
      `The service does not know the client ID (${details}).`,
      `Check ${origins['clientId']}, and the tenant or realm in the URL of the token endpoint.`,
    )
  }
  if (oauthError === 'unauthorized_client' || mentions(/not[ _]?approved|not[ _]?active|revoked/i)) {
    return request.problem(
      'application_not_approved',
      `The credentials are valid, but the application is not allowed to get tokens (${details}).`,
      'In the developer portal, request approval of the application for this grant and the products that it needs.',
    )
  }
  if (usesBasic && /[^\w.*-]/.test(clientId + clientSecret)) {
    return request.problem(
      'basic_encoding',
      `The service rejected Basic credentials that contain special characters (${details}).`,
      'They are form-encoded (RFC 6749, section 2.3.1), which not every server decodes. Omit --basic to send the credentials in the body, or create a secret of letters and digits.',
    )
  }
  return request.problem(
    'invalid_credentials',
    `The service rejected the client ID or the client secret (${details}).`,
    `Check ${origins['clientId']} and ${origins['clientSecret']}. Copy both again from the developer portal, for the same application and environment, without leading or trailing spaces. ` +
      'An endpoint that expects them in a header needs --basic.',
  )
}

/** What servers tolerate at most; `Date` has whole seconds only. */
const toleranceSeconds = 5

/** Explains why the service rejected a client assertion. The body is searched for known phrases, and never quoted. */
export function explainRejectedAssertion(
  error: TokenError,
  body: string,
  date: string | null | undefined,
  { audience, keyId, subject, issuedAt, expiresAt }: SentAssertion,
  { assertionFile, clientId }: Connection,
): Finding {
  const details = failureDetails(error)
  const here = Date.now() / 1000
  const there = Date.parse(date ?? '') / 1000
  const mentions = (phrase: RegExp): boolean => phrase.test(`${error.vendorCode} ${body}`)
  if (expiresAt !== undefined && expiresAt < here && assertionFile !== undefined) {
    return request.problem(
      'assertion_expired',
      `The assertion in ${assertionFile} expired ${formatDuration((here - expiresAt) * 1000)} ago (${details}).`,
      'Check the process that writes the file: it must replace the assertion before it expires.',
    )
  }
  const isEarly = issuedAt !== undefined && issuedAt > there + toleranceSeconds
  const isLate = expiresAt !== undefined && expiresAt < there
  if (isEarly || isLate) {
    const skew = formatDuration(Math.abs(here - there) * 1000)
    return request.problem(
      'assertion_clock_skew',
      `The assertion ${isEarly ? 'is not valid yet' : 'has expired'} by the service's clock, which is ${skew} ${isEarly ? 'behind' : 'ahead of'} this machine's (${details}).`,
      "Synchronise this machine's clock (NTP).",
    )
  }
  if (mentions(/\baud(?:ience)?s?\b/i)) {
    return request.problem(
      'assertion_audience',
      `The service rejected the audience "${audience}" of the assertion (${details}).`,
      assertionFile === undefined
        ? 'Some services expect their issuer, others the URL of the token endpoint: pass --assertion-audience.'
        : 'Configure the platform that writes the file to use the audience that the service expects.',
    )
  }
  if (mentions(/\bkid\b|\bjwks\b|\bkeys?\b|signature/i)) {
    return request.problem(
      'assertion_key',
      `The service found no key that verifies the assertion, which has ${keyId === undefined ? 'no key ID' : `the key ID "${keyId}"`} (${details}).`,
      assertionFile === undefined
        ? `Register the public key for "${clientId}" with the service, and pass the key ID that it has there as --key-id.`
        : 'Configure the service to trust the issuer of the assertion.',
    )
  }
  return request.problem(
    'assertion_rejected',
    `The service rejected the assertion (${details}): audience "${audience}", ${keyId === undefined ? 'no key ID' : `key ID "${keyId}"`}, subject "${subject}".`,
    'Compare all three, and the public key, with what is registered with the service. Some services expect their issuer as the audience, others the URL of the token endpoint: pass --assertion-audience.',
  )
}
