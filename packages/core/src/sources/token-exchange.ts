import { configurationError } from '../protocol/token-error.ts'
import { jwtPayload, type TokenResponse } from '../protocol/token-response.ts'
import type { TokenSource } from './token-source.ts'
import { checkSubject, rejectProof, resolveProof, type Proof } from './grant-proof.ts'
import { createGrantSource, type GrantParameters } from './grant-source.ts'
import type { TokenEndpointOptions } from './token-endpoint-options.ts'

/** How a token is exchanged for another one. The client ID is optional. Types are URNs of RFC 8693, section 3. */
export interface TokenExchangeOptions extends TokenEndpointOptions {
  /** The token of the party on whose behalf the request is made; a function is called for each token request. */
  readonly subjectToken: Proof
  /** Names that party, such as the `sub` of its token: providers share tokens of one subject alone. */
  readonly subject: string
  /** @default 'urn:ietf:params:oauth:token-type:access_token' */
  readonly subjectTokenType?: string | undefined
  /** The token of the party that acts, if it differs; a function is called for each token request. */
  readonly actorToken?: Proof | undefined
  /** Names that party; required with `actorToken`. */
  readonly actor?: string | undefined
  /** @default 'urn:ietf:params:oauth:token-type:access_token' */
  readonly actorTokenType?: string | undefined
  /** @default what the token endpoint chooses */
  readonly requestedTokenType?: string | undefined
}

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

/**
 * Requests tokens with token exchange (RFC 8693). A token counts as expired no later than its subject token, if that is
 * a JWT. For many subjects, use a pool with the subject as key.
 *
 * @example
 * const tokens = createTokenPool((subject: string) =>
 *   tokenExchange({ tokenEndpoint, clientId, clientSecret, audience, subject, subjectToken: () => tokenOf(subject) }),
 * )
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function tokenExchange({
  subjectToken,
  subject,
  subjectTokenType = accessTokenType,
  actorToken,
  actor,
  actorTokenType = accessTokenType,
  requestedTokenType,
  ...options
}: TokenExchangeOptions): TokenSource {
  checkSubject('subject', subject)
  if ((actor === undefined) !== (actorToken === undefined)) {
    throw configurationError('actor and actorToken must be set together.')
  }
  return createGrantSource(options, {
    type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    proof: 'subject token',
    key: [subject, subjectTokenType, actor, actor && actorTokenType, requestedTokenType],
    async parameters(request) {
      return {
        subject_token: await resolveProof('subjectToken', subjectToken, request),
        subject_token_type: subjectTokenType,
        ...(actorToken && {
          actor_token: await resolveProof('actorToken', actorToken, request),
          actor_token_type: actorTokenType,
        }),
        ...(requestedTokenType && { requested_token_type: requestedTokenType }),
      }
    },
    reject(parameters) {
      rejectProof(subjectToken, parameters['subject_token'])
      rejectProof(actorToken, parameters['actor_token'])
    },
    readResponse: expireWithSubject,
  })
}

/** Nobody may act for a subject whose own token has expired. */
function expireWithSubject(response: TokenResponse, parameters: GrantParameters): TokenResponse {
  const { exp } = jwtPayload(parameters['subject_token'] ?? '') ?? {}
  const remaining = typeof exp === 'number' ? exp - Date.now() / 1000 : 0
  // One that has expired by this machine's clock was accepted nevertheless.
  if (!(remaining > 0) || (response.expiresIn ?? Number.POSITIVE_INFINITY) <= remaining) return response
  return { ...response, expiresIn: remaining }
}
