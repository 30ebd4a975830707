import { randomUUID } from 'node:crypto'
import { TokenError } from '@tokenwell/core'
import type { Connection } from '../connection/resolve-connection.ts'
import { exchange } from './exchange.ts'
import { failureFacts } from './failure-facts.ts'
import { findingsOf, type Finding } from './finding.ts'

const wrongSecret = findingsOf('wrong secret')

export const notTried = wrongSecret.note(
  'not_tried',
  'What a wrong secret looks like was not tried: such a request may count against a limit of the service.',
  'Add --try-wrong-secret if that is no harm.',
)

/** Asks once with a secret made up for it. */
export async function tryWrongSecret(connection: Connection, limitMs: number): Promise<Finding> {
  const { outcome } = await exchange({ ...connection, clientSecret: randomUUID() }, limitMs)
  if (!(outcome instanceof TokenError)) {
    return wrongSecret.problem(
      'any_secret_does',
      'The service gave a token for a wrong secret, too.',
      'It does not check secrets: tell its operators at once.',
    )
  }
  const { kind } = outcome
  const facts = failureFacts(outcome)
  switch (kind) {
    case 'credentials':
      return wrongSecret.ok(
        'recognised',
        `A wrong secret is refused (${facts}) and recognised: it is not tried again.`,
      )
    case 'throttled':
      return wrongSecret.warning(
        'throttled',
        `The wrong secret was not looked at: too many requests (${facts}).`,
        'Try later.',
      )
    default:
      return wrongSecret.warning(
        'not_recognised',
        `A wrong secret looks like something else (${facts}, taken as ${kind}).`,
        'Remember that when you see it: programs may take a wrong secret for an outage, or for a wrong address.',
      )
  }
}
