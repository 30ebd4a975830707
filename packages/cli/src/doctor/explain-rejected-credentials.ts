import type { TokenError } from '@tokenwell/core'
import type { Connection } from '../configuration/resolve-connection.ts'
import { failureDetails, findingsOf, type Finding } from './finding.ts'

const request = findingsOf('request')

/** Explains why the service rejected the credentials. The body is searched for known phrases. */
export function explainRejectedCredentials(
  error: TokenError,
  body: string,
  { clientId, clientSecret = '', clientAuthentication, origins }: Connection,
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
  if (oauthError === 'unauthorized_client' || mentions(/not[ _]?approved|not[ _]?active|revoked/i)) {
    return request.problem(
      'application_not_approved',
      `The credentials are valid, but the application is not allowed to get tokens (${details}).`,
      'In the developer portal, request approval of the application for this grant and the products that it needs.',
    )
  }
  if (clientAuthentication === 'client_secret_basic' && /[^\w.*-]/.test(clientId + clientSecret)) {
    return request.problem(
      'basic_encoding',
      `The service rejected Basic credentials that contain special characters (${details}).`,
      'Servers decode them differently. Omit --basic to send the credentials in the body.',
    )
  }
  return request.problem(
    'invalid_credentials',
    `The service rejected the client ID or the client secret (${details}).`,
    `Check ${origins['clientId']} and ${origins['clientSecret']}. Copy both again from the developer portal, for the same application and environment, without leading or trailing spaces. ` +
      'An endpoint that expects them in a header needs --basic.',
  )
}
