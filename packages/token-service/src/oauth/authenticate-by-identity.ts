import type { Clock } from '../runtime/clock.ts'
import type { ClaimPatterns, RegisteredClient } from '../storage/application.ts'
import type {
  ApplicationStorage,
  AssertionStorage,
  TrustedIssuerStorage,
  TrustedIssuer,
} from '../storage/storage.ts'
import type { AuthenticatedClient, Caller } from './authenticate-client.ts'
import type { FailedAttemptLimit } from './failed-attempt-limit.ts'
import { ProtocolError } from './protocol-error.ts'
import type { RemoteKeySets } from './remote-key-sets.ts'

export interface IdentityAuthenticatorContext {
  readonly trustedIssuers: TrustedIssuerStorage
  readonly applications: ApplicationStorage
  readonly assertions: AssertionStorage
  readonly clock: Clock
  readonly failedAttempts: FailedAttemptLimit
  readonly keySets: () => Promise<RemoteKeySets>
  /** Logs which part of a JWT did not match. */
  readonly warn: (message: string) => void
}

/**
 * Finds the application that a JWT of a trusted issuer stands for (RFC 7523, section 2.1).
 *
 * @param identity `clientId`: what the request says about it
 */
export type AuthenticateByIdentity = (
  identity: { readonly assertion: string; readonly clientId: string | undefined },
  caller: Caller,
) => Promise<AuthenticatedClient<RegisteredClient>>

/** The longest that platforms issue: a day, and an hour for their own caches. */
const maxLifetimeSeconds = 90_000

export function createIdentityAuthenticator(context: IdentityAuthenticatorContext): AuthenticateByIdentity {
  const { trustedIssuers, applications, assertions, clock, failedAttempts, keySets, warn } = context

  async function verify(assertion: string, issuer: TrustedIssuer, { address, audiences }: Caller) {
    const { InvalidClaim, KeySetUnavailable, verifyClaims } = await import('./verify-assertion.ts')
    const sets = await keySets()
    const key = issuer.jwksUrl === undefined ? sets.ofIssuer(issuer.issuer) : sets.get(issuer.jwksUrl)
    try {
      return await verifyClaims(assertion, key, {
        issuer: issuer.issuer,
        requiredClaims: ['aud', 'exp'],
        audiences: issuer.audiences.length > 0 ? issuer.audiences : audiences(),
        nowMs: clock.now(),
        maxLifetimeSeconds,
      })
    } catch (error) {
      if (error instanceof KeySetUnavailable)
        throw new ProtocolError('key_set_unavailable', { retryAfterSeconds: 10 })
      if (error instanceof InvalidClaim) throw invalid(issuer, error.claim)
      await failedAttempts.failed(address, issuer.id)
      throw new ProtocolError('invalid_grant')
    }
  }

  function invalid({ issuer }: TrustedIssuer, claim: string): ProtocolError {
    warn(
      `A JWT of ${issuer} was rejected: its claim "${claim}" is missing, invalid, expired or already used.`,
    )
    return new ProtocolError('invalid_grant', { parameter: claim })
  }

  return async ({ assertion, clientId }, caller) => {
    const { claimedIssuer } = await import('./verify-assertion.ts')
    const name = claimedIssuer(assertion)
    const issuer = name === undefined ? undefined : await trustedIssuers.find(name)
    if (!issuer) {
      await failedAttempts.failed(caller.address, 'unknown issuer')
      throw new ProtocolError('invalid_grant')
    }
    const { claims, expiresAtMs } = await verify(assertion, issuer, caller)
    const matching = new Set(
      issuer.rules
        .filter((rule) => [undefined, rule.clientId].includes(clientId) && includes(claims, rule.claims))
        .map((rule) => rule.clientId),
    )
    const [only] = matching
    const client = matching.size === 1 ? await applications.findClient(only!) : undefined
    if (!client) {
      const found = matching.size === 0 ? 'no application' : `"${[...matching].join('", "')}"`
      const subject = JSON.stringify(claims.sub ?? null)
      const of = clientId === undefined ? '' : ` of "${clientId}"`
      warn(`The rules${of} for ${issuer.issuer} map a JWT with the sub ${subject} to ${found}, not to one.`)
      throw new ProtocolError('identity_not_mapped')
    }
    const { jti } = claims
    if (issuer.detectReplay) {
      if (typeof jti !== 'string' || jti === '' || jti.length > 512) throw invalid(issuer, 'jti')
      // No client ID contains a line break.
      if (!(await assertions.use(`${issuer.issuer}\n${jti}`, expiresAtMs))) throw invalid(issuer, 'jti')
    }
    return { client, credential: { id: issuer.id } }
  }
}

/** Whether claims contain what a rule requires. */
function includes(claims: unknown, pattern: ClaimPatterns[string]): boolean {
  // Not of lists within lists: the issuer decides how deep they are.
  if (Array.isArray(claims)) return claims.some((claim) => !Array.isArray(claim) && includes(claim, pattern))
  if (typeof pattern === 'object') {
    return (
      typeof claims === 'object' &&
      claims !== null &&
      Object.entries(pattern).every(
        ([name, each]) => Object.hasOwn(claims, name) && includes((claims as ClaimPatterns)[name], each),
      )
    )
  }
  if (typeof pattern === 'string' && pattern.endsWith('*')) {
    const start = pattern.slice(0, -1)
    return typeof claims === 'string' && claims.length > start.length && claims.startsWith(start)
  }
  return claims === pattern
}
