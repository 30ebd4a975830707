import type { Clock } from '../runtime/clock.ts'
import type { ClaimPatterns, RegisteredClient, TrustedIssuer } from '../storage/application.ts'
import type { FindClient } from '../storage/registered-client.ts'
import type { AssertionStorage } from './assertion-storage.ts'
import type { AuthenticatedClient, Caller } from './authenticate-client.ts'
import type { FailedAttemptLimit } from './failed-attempt-limit.ts'
import type { PresentedAssertion } from './presented-credentials.ts'
import { ProtocolError, type ErrorReason } from './protocol-error.ts'
import type { RemoteKeySets } from './remote-key-sets.ts'

export interface IdentityAuthenticatorContext {
  readonly trustedIssuers: { find(issuer: string): Promise<TrustedIssuer | undefined> }
  readonly applications: { readonly findClient: FindClient }
  readonly assertions: AssertionStorage
  readonly clock: Clock
  readonly failedAttempts: FailedAttemptLimit
  readonly keySets: () => Promise<RemoteKeySets>
  /** Logs which part of a JWT did not match. */
  readonly warn: (message: string) => void
}

/** Finds the application that a JWT of a trusted issuer stands for. */
export interface IdentityAuthenticator {
  /** The JWT is the grant (RFC 7523, section 2.1); `clientId`: what the request says about the application. */
  readonly byGrant: (
    identity: PresentedAssertion,
    caller: Caller,
  ) => Promise<AuthenticatedClient<RegisteredClient>>
  /** The JWT authenticates the client (RFC 7523, section 2.2); `undefined` if no trusted issuer issued it. */
  readonly byAssertion: (
    identity: PresentedAssertion,
    caller: Caller,
  ) => Promise<AuthenticatedClient<RegisteredClient> | undefined>
}

/** How a rejected JWT is reported: a rejected grant is not a rejected client. */
interface Reasons {
  readonly untrusted: ErrorReason
  readonly claim: ErrorReason
  readonly unmapped: ErrorReason
}

const ofGrant: Reasons = {
  untrusted: 'invalid_grant',
  claim: 'invalid_grant',
  unmapped: 'identity_not_mapped',
}
const ofClient: Reasons = {
  untrusted: 'invalid_client',
  claim: 'invalid_assertion',
  unmapped: 'client_not_identified',
}

/** The longest that platforms issue: a day, and an hour for their own caches. */
const maxLifetimeSeconds = 90_000

export function createIdentityAuthenticator(context: IdentityAuthenticatorContext): IdentityAuthenticator {
  const { trustedIssuers, applications, assertions, clock, failedAttempts, keySets, warn } = context

  async function verify(
    assertion: string,
    issuer: TrustedIssuer,
    { address, audiences }: Caller,
    reasons: Reasons,
  ) {
    const { createKeySet, InvalidClaim, KeySetUnavailable, verifyClaims } =
      await import('./verify-assertion.ts')
    const { jwks, jwksUrl } = issuer
    const sets = await keySets()
    const keys =
      jwks !== undefined
        ? createKeySet(jwks.keys)
        : jwksUrl === undefined
          ? sets.ofIssuer(issuer.issuer)
          : sets.get(jwksUrl)
    try {
      return await verifyClaims(assertion, keys, {
        issuer: issuer.issuer,
        requiredClaims: ['aud', 'exp'],
        audiences: issuer.audiences.length > 0 ? issuer.audiences : audiences(),
        nowMs: clock.now(),
        maxLifetimeSeconds,
      })
    } catch (error) {
      if (error instanceof KeySetUnavailable)
        throw new ProtocolError('key_set_unavailable', { retryAfterSeconds: 10 })
      if (error instanceof InvalidClaim) throw invalid(issuer, error.claim, reasons)
      await failedAttempts.failed(address, issuer.id)
      throw new ProtocolError(reasons.untrusted)
    }
  }

  function invalid({ issuer }: TrustedIssuer, claim: string, reasons: Reasons): ProtocolError {
    warn(
      `A JWT of ${issuer} was rejected: its claim "${claim}" is missing, invalid, expired or already used.`,
    )
    return new ProtocolError(reasons.claim, { parameter: claim })
  }

  async function identify(
    { assertion, clientId }: PresentedAssertion,
    issuer: TrustedIssuer,
    caller: Caller,
    reasons: Reasons,
  ): Promise<AuthenticatedClient<RegisteredClient>> {
    const { claims, expiresAtMs } = await verify(assertion, issuer, caller, reasons)
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
      throw new ProtocolError(reasons.unmapped)
    }
    const { jti } = claims
    if (issuer.detectReplay) {
      if (typeof jti !== 'string' || jti === '' || jti.length > 512) throw invalid(issuer, 'jti', reasons)
      // No client ID contains a line break.
      if (!(await assertions.use(`${issuer.issuer}\n${jti}`, expiresAtMs)))
        throw invalid(issuer, 'jti', reasons)
    }
    return { client, credential: { id: issuer.id } }
  }

  return {
    async byGrant(identity, caller) {
      const { claimedIssuer } = await import('./verify-assertion.ts')
      const name = claimedIssuer(identity.assertion)
      const issuer = name === undefined ? undefined : await trustedIssuers.find(name)
      if (issuer) return identify(identity, issuer, caller, ofGrant)
      await failedAttempts.failed(caller.address, 'unknown issuer')
      throw new ProtocolError('invalid_grant')
    },
    async byAssertion(identity, caller) {
      const { claimedClientId, claimedIssuer } = await import('./verify-assertion.ts')
      const name = claimedIssuer(identity.assertion)
      // A client's own assertion names it as both.
      if (name === undefined || name === claimedClientId(identity.assertion)) return undefined
      const issuer = await trustedIssuers.find(name)
      return issuer && identify(identity, issuer, caller, ofClient)
    },
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
