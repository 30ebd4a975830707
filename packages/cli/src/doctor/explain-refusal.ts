import type { TokenError } from '@tokenwell/core'
import { failureFacts } from './failure-facts.ts'
import { findingsOf, type Finding } from './finding.ts'

const request = findingsOf('request')

/** Why the credentials were refused, as far as the answer tells; it is looked at, and never quoted. */
export function explainRefusal(error: TokenError, body: string): Finding {
  const { oauthError, vendorCode } = error
  const facts = failureFacts(error)
  const says = (words: RegExp): boolean => words.test(`${vendorCode} ${body}`)
  if (says(/secret[\w ]*expired|expired[\w ]*secret|credentials?[\w ]*expired|KeyExpired/i)) {
    return request.problem(
      'secret_expired',
      `The client secret has expired (${facts}).`,
      'Make a new one in the developer portal, and use it wherever the old one was.',
    )
  }
  if (oauthError === 'unauthorized_client' || says(/not[ _]?approved|not[ _]?active|revoked/i)) {
    return request.problem(
      'application_not_approved',
      `The credentials are right, but the application may not have tokens (${facts}).`,
      'Have it approved in the developer portal, for this grant and its products.',
    )
  }
  return request.problem(
    'wrong_credentials',
    `The client ID or the secret is wrong (${facts}).`,
    'Copy both anew from the developer portal: of the same application, of this environment, without blanks around them. ' +
      'An endpoint that wants them in a header needs --basic.',
  )
}
