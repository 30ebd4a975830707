import type { ErrorReason } from '../../oauth/protocol-error.ts'
import type { TokenRequestOutcome } from '../../storage/activity-storage.ts'

const outcomes: Partial<Record<'issued' | ErrorReason, readonly [label: string, help: string]>> = {
  issued: ['Token issued', ''],
  invalid_client: ['Invalid credentials', 'Check the client’s secret or key: it is wrong or was revoked.'],
  expired_secret: ['Expired secret', 'Rotate the secret, and deploy the new one.'],
  application_not_approved: ['Not approved', 'Ask an administrator to approve the application.'],
  too_many_failures: ['Too many failures', 'Check the client’s credentials. A correct secret still works.'],
  invalid_assertion: [
    'Invalid assertion',
    'Check the assertion’s audience, and the client’s clock and registered key.',
  ],
  key_set_unavailable: [
    'JWK set unavailable',
    'Check the URL of the JWK set: the service could not load it.',
  ],
  unavailable: ['Service unavailable', 'Try again later: the service could not reach its storage.'],
}

/** The result of a token request in plain words, and what to do about it. */
export function describeOutcome(outcome: TokenRequestOutcome): { label: string; help: string } {
  const words = outcome.replaceAll('_', ' ')
  const [
    label = words.charAt(0).toUpperCase() + words.slice(1),
    help = 'Correct the client’s request: it is invalid.',
  ] = outcomes[outcome as ErrorReason] ?? []
  return { label, help }
}
