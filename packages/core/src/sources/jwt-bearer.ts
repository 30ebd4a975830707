import type { TokenSource } from './token-source.ts'
import { createGrantSource } from './grant-source.ts'
import { checkSubject, rejectProof, resolveProof, type Proof } from './grant-proof.ts'
import type { TokenEndpointOptions } from './token-endpoint-options.ts'

/** How an identity from elsewhere is exchanged for a token. The client ID is optional. */
export interface JwtBearerOptions extends TokenEndpointOptions {
  /**
   * A signed JWT that the token endpoint trusts, or a function that returns one, called for each token request, such as
   * `githubActionsIdentity` of `@tokenwell/client-authentication`.
   */
  readonly assertion: Proof
  /** Names for whom the tokens are, such as the `sub` of the assertion: providers share tokens of one subject alone. */
  readonly subject: string
}

/**
 * Requests tokens with an assertion as the grant (RFC 7523, section 2.1), also called workload identity federation. A
 * changed assertion ends the cooldown after a rejection, unless every request has another one.
 *
 * @example
 * const assertion = githubActionsIdentity({ audience: 'https://auth.example.com' })
 * const tokens = createTokenProvider(jwtBearer({ tokenEndpoint, assertion, subject: 'repository' }))
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function jwtBearer({ assertion, subject, ...options }: JwtBearerOptions): TokenSource {
  checkSubject('subject', subject)
  return createGrantSource(options, {
    type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    proof: 'assertion',
    key: [subject],
    parameters: async (request) => ({ assertion: await resolveProof('assertion', assertion, request) }),
    reject: (parameters) => rejectProof(assertion, parameters['assertion']),
  })
}
