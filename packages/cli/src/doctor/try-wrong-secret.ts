import { randomUUID } from 'node:crypto'
import { TokenError } from '@tokenwell/core'
import type { Connection } from '../configuration/resolve-connection.ts'
import { observeTokenRequest } from './observe-token-request.ts'
import { failureDetails, findingsOf, type Finding } from './finding.ts'

const wrongSecret = findingsOf('wrong secret')

export const notTried = wrongSecret.note(
  'not_tried',
  "A wrong secret was not tried, because such a request may count against the service's rate limit.",
  'Add --try-wrong-secret if that is acceptable.',
)

/** Sends one token request with a random secret. */
export async function tryWrongSecret(connection: Connection, limitMs: number): Promise<Finding> {
  const { outcome } = await observeTokenRequest({ ...connection, clientSecret: randomUUID() }, limitMs)
  if (!(outcome instanceof TokenError)) {
    return wrongSecret.problem(
      'any_secret_accepted',
      'The service also returned a token for a wrong secret.',
      'The service does not check secrets. Report this to its operators at once.',
    )
  }
  const { kind } = outcome
  const details = failureDetails(outcome)
  switch (kind) {
    case 'credentials':
      return wrongSecret.ok(
        'recognised',
        `The service rejects a wrong secret (${details}), and Tokenwell recognises the rejection: it does not retry.`,
      )
    case 'throttled':
      return wrongSecret.warning(
        'throttled',
        `The wrong secret was not checked, because the service rate-limited the request (${details}).`,
        'Try again later.',
      )
    default:
      return wrongSecret.warning(
        'not_recognised',
        `The response to a wrong secret does not look like a rejection (${details}, treated as ${kind}).`,
        'Programs may mistake a wrong secret for an outage or a wrong URL. The service should respond with status 401 and invalid_client (RFC 6749, section 5.2).',
      )
  }
}
