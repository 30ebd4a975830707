import type { ClientAuthentication, ClientAuthenticationRequest } from '../protocol/client-authentication.ts'
import { configurationError } from '../protocol/token-error.ts'
import { jwtPayload, type TokenResponse } from '../protocol/token-response.ts'
import { resolveOption, type Resolvable, type TokenEndpointOptions } from './client.ts'
import {
  ResourceSource,
  type ProtectedResourceOptions,
  type ResourceSourceOptions,
  type ServerOption,
} from './for-resource.ts'
import { GrantSource, type Grant, type GrantParameters, type GrantRequest } from './grant-source.ts'
import { createTokenProvider } from '../provider/caching-token-provider.ts'
import type { TokenProvider, TokenProviderOptions } from '../provider/token-provider.ts'

/** How an application authenticates to a token endpoint, and how its tokens are cached. */
export interface ClientCredentialsOptions extends TokenEndpointOptions, TokenProviderOptions {
  /** Client ID, also called consumer key. */
  readonly clientId: Resolvable<string | undefined>
}

/**
 * Gets tokens with the client credentials grant (RFC 6749, section 4.4), caches them, and refreshes them before they expire.
 *
 * @example
 * const tokens = clientCredentials({ authUrl, clientId, clientSecret })
 * const { value } = await tokens.getToken()
 * const api = createTokenFetch(tokens, { baseUrl: 'https://api.example.com' })
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function clientCredentials(options: ClientCredentialsOptions): TokenProvider {
  return createTokenProvider(new GrantSource({ ...options }), options)
}

/** How an application gets tokens for an API that names its authorization server itself. */
export interface ResourceClientCredentialsOptions
  extends Omit<ClientCredentialsOptions, ServerOption | 'scope'>, ProtectedResourceOptions {}

/**
 * Gets tokens with the client credentials grant from the authorization server that an API names in its metadata
 * (RFC 9728), as MCP servers do. The first request of the application to the API is sent without a token: the challenge of
 * its response says where the metadata is and which scopes are required. Otherwise, it is looked up at the well-known
 * address of the API, then of its origin. If the API responds with 403 `insufficient_scope`, a token with the required
 * scopes is requested, within `scope`.
 *
 * @example
 * const tokens = clientCredentialsForResource({
 *   protectedResource: 'https://mcp.example.com/mcp',
 *   trustedIssuers: ['https://auth.example.com'],
 *   clientId,
 *   clientSecret,
 * })
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function clientCredentialsForResource(options: ResourceClientCredentialsOptions): TokenProvider {
  return createTokenProvider(new ResourceSource({ ...options }), options)
}

/** Returns an assertion or a token; called for each token request. */
export interface ProofSource<Request> {
  (request: Request): string | Promise<string>
  /** Called with one that the token endpoint rejected, for a source that would return it again. */
  readonly reject?: ((proof: string) => void) | undefined
}

/** An assertion or a token, or a function that returns it. */
export type Proof = string | ProofSource<GrantRequest>

/**
 * Client authentication by a JWT (RFC 7521, section 4.2; RFC 7523, section 2.2).
 *
 * @param getJwt returns a signed assertion; called for each attempt
 * @param options `fingerprint` identifies the key or the subject: part of the cache key, and a change ends a cooldown
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: clientAssertion(() => readFile(tokenFile, 'utf8')) })
 */
export function clientAssertion(
  getJwt: ProofSource<ClientAuthenticationRequest>,
  options: { readonly fingerprint?: (() => string | Promise<string>) | undefined } = {},
): ClientAuthentication {
  return {
    async authenticate(request) {
      const assertion = (await getJwt(request)).trim()
      request.body.set('client_id', request.clientId)
      request.body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
      request.body.set('client_assertion', assertion)
    },
    fingerprint: options.fingerprint ?? (() => 'client_assertion'),
    explain(error, _headers, { body }) {
      if (error.kind === 'credentials') getJwt.reject?.(body.get('client_assertion')!)
    },
  }
}

/** An identity from elsewhere, as the grant for a token. */
interface JwtBearerGrant {
  /**
   * A signed JWT that the token endpoint trusts, or a function that returns one, called for each token request, such as
   * `githubActionsIdentity` of `@tokenwell/client-authentication`.
   */
  readonly assertion: Proof
  /** Names for whom the tokens are, such as the `sub` of the assertion: providers share tokens of one subject alone. */
  readonly subject: string
}

/** How an identity from elsewhere is exchanged for a token. The client ID is optional. */
export interface JwtBearerOptions extends TokenEndpointOptions, TokenProviderOptions, JwtBearerGrant {}

/** The same for an API that names its authorization server itself; see {@link clientCredentialsForResource}. */
export type ResourceJwtBearerOptions = ResourceSourceOptions & TokenProviderOptions & JwtBearerGrant

/**
 * Gets tokens with an assertion as the grant (RFC 7523, section 2.1), also called workload identity federation. A
 * changed assertion ends the cooldown after a rejection, unless every request has another one.
 *
 * @example
 * const assertion = githubActionsIdentity({ audience: 'https://auth.example.com' })
 * const tokens = jwtBearer({ tokenEndpoint, assertion, subject: 'repository' })
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function jwtBearer({
  assertion,
  subject,
  ...options
}: JwtBearerOptions | ResourceJwtBearerOptions): TokenProvider {
  checkSubject('subject', subject)
  const grant: Grant = {
    type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    proof: 'assertion',
    key: [subject],
    parameters: async (request) => ({ assertion: await resolveProof('assertion', assertion, request) }),
    reject: (parameters) => rejectProof(assertion, parameters['assertion']),
  }
  const source =
    'protectedResource' in options ? new ResourceSource(options, grant) : new GrantSource(options, grant)
  return createTokenProvider(source, options)
}

/** How a token is exchanged for another one. The client ID is optional. Types are URNs of RFC 8693, section 3. */
export interface TokenExchangeOptions extends TokenEndpointOptions, TokenProviderOptions {
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
 * Gets tokens with token exchange (RFC 8693). A token counts as expired no later than its subject token, if that is
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
}: TokenExchangeOptions): TokenProvider {
  checkSubject('subject', subject)
  if ((actor === undefined) !== (actorToken === undefined)) {
    throw configurationError('actor and actorToken must be set together.')
  }
  const grant: Grant = {
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
  }
  return createTokenProvider(new GrantSource(options, grant), options)
}

/** Nobody may act for a subject whose own token has expired. */
function expireWithSubject(response: TokenResponse, parameters: GrantParameters): TokenResponse {
  const { exp } = jwtPayload(parameters['subject_token'] ?? '') ?? {}
  const remaining = typeof exp === 'number' ? exp - Date.now() / 1000 : 0
  // One that has expired by this machine's clock was accepted nevertheless.
  if (!(remaining > 0) || (response.expiresIn ?? Number.POSITIVE_INFINITY) <= remaining) return response
  return { ...response, expiresIn: remaining }
}

/** Reports a proof that the token endpoint rejected. */
function rejectProof(proof: Proof | undefined, sent: string | undefined): void {
  if (typeof proof === 'function' && sent !== undefined) proof.reject?.(sent)
}

/** @throws {TokenError} of kind `configuration`, naming the option */
function checkSubject(option: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') {
    throw configurationError(`${option} is missing. Name for whom the tokens are, such as a user ID.`)
  }
}

/** @throws {TokenError} if the function fails or returns no text */
async function resolveProof(option: string, proof: Proof, request: GrantRequest): Promise<string> {
  const value: unknown = await resolveOption(
    option,
    typeof proof === 'function' ? () => proof(request) : proof,
    request.signal,
  )
  const text = typeof value === 'string' ? value.trim() : ''
  if (text === '')
    throw configurationError(`${option} is missing. Pass a string, or a function that returns one.`)
  return text
}
