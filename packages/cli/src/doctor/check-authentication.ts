import { TokenError } from '@tokenwell/core'
import { explainIgnored, type Connection } from '../connection/resolve.ts'
import { nameOptions } from '../errors.ts'
import { findingsOf, type Finding } from './finding.ts'
import { readSentAssertion } from './observe-token-request.ts'

const authentication = findingsOf('authentication')

/** Reports how the client authenticates, and why. */
export function checkWay({ way: { way, value, origin, isVariable, ignored } }: Connection): Finding[] {
  const how = {
    clientSecret: 'a client secret',
    clientSecretFile: `the client secret in ${value}`,
    privateKey: `the private key in ${value}`,
    assertionFile: `the JWT in ${value}`,
    identity: `the identity that ${value} gives this machine`,
  }[way]
  const why = isVariable ? `${origin} is set beside CLIENT_ID` : `it came from ${origin}`
  const withoutSecret = isVariable && way !== 'clientSecret' ? ', and CLIENT_SECRET is not' : ''
  return [
    authentication.ok('chosen', `The client authenticates with ${how}: ${why}${withoutSecret}.`),
    ...(ignored.length > 0
      ? [authentication.warning('variables_ignored', ...sentences(explainIgnored(origin, ignored)))]
      : []),
  ]
}

/** Asks the platform for the JWT of this machine before anything is sent to the token endpoint, and reports what it states. */
export async function* checkPlatformToken(
  { way: { way }, clientAuthentication, clientId }: Connection,
  url: URL,
  limitMs: number,
): AsyncGenerator<Finding> {
  if ((way !== 'identity' && way !== 'assertionFile') || typeof clientAuthentication !== 'object') return
  const body = new URLSearchParams()
  try {
    // A JWT of a platform may be sent to each endpoint once. Nothing is sent here, so the URL differs from that of the endpoint.
    const tokenEndpoint = new URL(url)
    tokenEndpoint.hash = 'doctor'
    const signal = AbortSignal.timeout(limitMs)
    await clientAuthentication.authenticate({ clientId, tokenEndpoint, body, headers: new Headers(), signal })
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    yield authentication.problem('no_platform_token', ...sentences(nameOptions(error.message)))
    return
  }
  const { issuer, subject, audience } = readSentAssertion(String(body))?.assertion ?? {}
  yield authentication.ok(
    'platform_token',
    `The JWT of the platform has the issuer "${issuer}", the subject "${subject}" and the audience "${audience}", which the token endpoint must trust.`,
  )
}

/** The first sentence, and the others, which are advice. */
function sentences(text: string): [message: string, advice: string] {
  const [, message = text, advice = 'Run this where the program runs.'] = /^(.+?\.) (.+)$/s.exec(text) ?? []
  return [message, advice]
}
