import type { Application, RegisteredClient } from '../storage/application.ts'
import { currentAccess, type Access } from './current-access.ts'
import type { ActivityRecorder } from '../storage/activity-recorder.ts'
import type { Clock } from '../runtime/clock.ts'
import type { AssertionStorage } from './assertion-storage.ts'
import type { IdentityAuthenticator } from './authenticate-by-identity.ts'
import type { AuthenticateClient, Caller } from './authenticate-client.ts'
import { presentedCredentials, presentsCredentials } from './presented-credentials.ts'
import {
  jwtBearer,
  parseParameters,
  presentedIdentity,
  type RawParameters,
  repeatedGrant,
  requestedResource,
  requestedScope,
  tokenQuery,
} from './parameters.ts'
import type { TokenResponse } from './oauth-responses.ts'
import { ProtocolError, type Format } from './protocol-error.ts'
import type { SigningKeys } from './signing-keys.ts'
import { type TokenStorage, accessTokenHash, createAccessToken } from './token-storage.ts'
import { createJwt, type AlterJwt } from './jwt-access-token.ts'

export interface TokenRequest {
  readonly query: RawParameters
  readonly form: RawParameters
  readonly authorization: string | undefined
  /** The proof of possession of a key that the token is to be bound to (RFC 9449). */
  readonly dpop: string | undefined
  readonly caller: Caller
  /** The URL that the request was sent to. */
  readonly url: () => string
  /** The `iss` of a JWT. */
  readonly issuer: () => string
  /** For tests: changes a JWT before it is signed. */
  readonly alterJwt?: AlterJwt | undefined
}

export type IssueToken = (request: TokenRequest) => Promise<{ clientId: string; response: TokenResponse }>

export interface TokenIssuerContext {
  readonly authenticateApplication: AuthenticateClient<RegisteredClient>
  readonly authenticateByGrant: IdentityAuthenticator['byGrant']
  readonly storage: { readonly tokens: TokenStorage; readonly assertions: AssertionStorage }
  readonly activity: ActivityRecorder
  readonly clock: Clock
  readonly format: Format
  readonly signingKeys: SigningKeys
}

/** Issues access tokens for client credentials (RFC 6749, section 4.4), or for the JWT of a trusted issuer (RFC 7523, section 2.1). */
export function createTokenIssuer(context: TokenIssuerContext): IssueToken {
  const { authenticateApplication, authenticateByGrant, activity, clock, format, signingKeys } = context
  const { tokens, assertions } = context.storage

  /** A client that also has credentials may authenticate with them (RFC 7521, section 4.1). */
  async function identify(form: RawParameters, authorization: string | undefined, caller: Caller) {
    const { assertion, client_id } = parseParameters(presentedIdentity, form)
    const authenticated = presentsCredentials(authorization, form)
      ? await authenticateApplication(presentedCredentials(authorization, form), caller)
      : undefined
    const clientId = authenticated?.client.application.clientId ?? client_id
    return authenticateByGrant({ assertion, clientId }, caller)
  }

  /** The thumbprint of the key that the token is bound to; each proof is accepted once, by all instances together. */
  async function boundKey(
    { dpop: use, clientId }: Application,
    { dpop: proof, url }: Pick<TokenRequest, 'dpop' | 'url'>,
  ): Promise<string | undefined> {
    // Clients see in `token_type` that the proof has no effect (RFC 9449, section 5).
    if (use === 'none') return undefined
    if (proof === undefined) {
      if (use === 'required') throw new ProtocolError('missing_dpop_proof', { clientId })
      return undefined
    }
    // Loaded on first use: most services never see a proof.
    const { verifyDpopProof } = await import('./dpop-proof.ts')
    const verified = await verifyDpopProof(proof, { clientId, url: url(), nowMs: clock.now() })
    if (!(await assertions.use(verified.id, verified.expiresAtMs)))
      throw new ProtocolError('invalid_dpop_proof', { clientId, parameter: 'jti' })
    return verified.keyThumbprint
  }

  return async ({ query, form, authorization, dpop, caller, url, issuer, alterJwt }) => {
    const isInForm = query['grant_type'] === undefined && form['grant_type'] !== undefined
    if (isInForm && format === 'platform') throw new ProtocolError('grant_type_not_in_query')
    const { grant_type: grant } = parseParameters(tokenQuery, isInForm ? form : query)
    if (![undefined, grant].includes(parseParameters(repeatedGrant, form).grant_type))
      throw new ProtocolError('malformed_parameter', { parameter: 'grant_type' })
    const { client, credential } =
      grant === jwtBearer
        ? await identify(form, authorization, caller)
        : await authenticateApplication(presentedCredentials(authorization, form), caller)
    const { application } = client
    const { id: applicationId, clientId, tokenGeneration: generation } = application
    const access = currentAccess(client)
    if (!access) throw new ProtocolError('application_not_approved', { clientId })
    const { products } = access

    if (form['authorization_details'] !== undefined)
      throw new ProtocolError('invalid_authorization_details', { clientId })
    const { scopes, audiences } = grantedAccess(client, access, form)
    const keyThumbprint = await boundKey(application, { dpop, url })

    const issuedAtMs = clock.now()
    // A token expires with its secret or key.
    const { expiresAtMs: credentialExpiresAtMs = Infinity } = credential
    const lifetimeSeconds = Math.min(
      application.lifetimeSeconds,
      Math.ceil((credentialExpiresAtMs - issuedAtMs) / 1000),
    )
    const expiresAtMs = issuedAtMs + lifetimeSeconds * 1000
    const granted = { products, scopes, audiences, keyThumbprint, issuedAtMs, expiresAtMs }
    const value =
      application.tokenFormat === 'opaque'
        ? createAccessToken(issuedAtMs)
        : await createJwt({ application, issuer: issuer(), ...granted }, signingKeys, alterJwt)
    const token = { applicationId, secretId: credential.id, generation, ...granted }
    await tokens.save({ hash: accessTokenHash(value), ...token })
    const { address } = caller
    activity.tokenRequested({ clientId, outcome: 'issued', address, used: [applicationId, credential.id] })
    const tokenType = keyThumbprint === undefined ? 'Bearer' : 'DPoP'
    const issued = { value, tokenType, scopes, issuedAtMs, lifetimeSeconds } as const
    return { clientId, response: createTokenResponse(issued, client) }
  }
}

/**
 * What a token is for. Scopes that belong to an API are granted only in tokens for that API: without a `resource`, they
 * decide for which one, so scopes of two are rejected (RFC 9068, section 3).
 */
function grantedAccess(
  { application, scopeAudiences }: RegisteredClient,
  access: Access,
  form: RawParameters,
) {
  const { clientId } = application
  const requested = requestedScopes(application, form)
  const resources = requestedResources(application, access, form)
  if (resources.length > 0) {
    const isForThem = (scope: string) => resources.includes(scopeAudiences.get(scope) ?? resources[0]!)
    if (requested?.every(isForThem) === false) throw new ProtocolError('invalid_scope', { clientId })
    return { scopes: (requested ?? access.scopes).filter(isForThem), audiences: resources }
  }
  const scopes = requested ?? access.scopes
  const audiences = new Set(scopes.flatMap((scope) => scopeAudiences.get(scope) ?? []))
  if (audiences.size > 1) throw new ProtocolError('scopes_of_several_resources', { clientId })
  return { scopes, audiences: audiences.size > 0 ? [...audiences] : application.audiences }
}

/**
 * The scopes that the request narrows those of the application to, if it does. In the platform's formats, whose responses
 * always state the scope, an application without scopes may send any: it gets none.
 */
function requestedScopes(
  { scopes, responseForm, clientId }: Application,
  form: RawParameters,
): readonly string[] | undefined {
  const { scope } = parseParameters(requestedScope, form)
  const requested = [...new Set(scope?.split(' ').filter(Boolean))]
  if (requested.length === 0 || (scopes.length === 0 && responseForm !== 'rfc6749')) return undefined
  if (!requested.every((one) => scopes.includes(one))) throw new ProtocolError('invalid_scope', { clientId })
  return requested
}

/** The APIs that the request narrows the audience to. Opaque tokens of an application without any are for none. */
function requestedResources(
  { tokenFormat, clientId }: Application,
  { audiences }: Access,
  form: RawParameters,
): readonly string[] {
  const requested = [...new Set([parseParameters(requestedResource, form).resource ?? []].flat())]
  if (tokenFormat === 'opaque' && audiences.length === 0) return []
  if (!requested.every((one) => audiences.includes(one)))
    throw new ProtocolError('invalid_target', { clientId })
  return requested
}

export interface IssuedToken {
  readonly value: string
  readonly tokenType: 'Bearer' | 'DPoP'
  readonly scopes: readonly string[]
  readonly issuedAtMs: number
  readonly lifetimeSeconds: number
}

/**
 * The token response in the application's format. In the platform's formats, all values are strings, except the list of
 * products.
 */
export function createTokenResponse(
  token: IssuedToken,
  { application }: Pick<RegisteredClient, 'application'>,
): TokenResponse {
  const scope = token.scopes.join(' ')
  if (application.responseForm === 'rfc6749') {
    const standard = { access_token: token.value, token_type: token.tokenType }
    return { ...standard, expires_in: token.lifetimeSeconds, ...(scope && { scope }) }
  }
  const common = {
    access_token: token.value,
    token_type: token.tokenType,
    expires_in: String(token.lifetimeSeconds),
    issued_at: String(token.issuedAtMs),
    client_id: application.clientId,
    application_name: application.name,
    organization_name: application.organizationName,
    developer_email: application.developerEmail,
    status: 'approved' as const,
    scope,
    refresh_token_expires_in: '0' as const,
    refresh_count: '0' as const,
  }
  if (application.responseForm === 'refresh') {
    return { ...common, refresh_token: '', level: application.level }
  }
  return {
    ...common,
    api_product_list: `[${application.products.join(', ')}]`,
    api_product_list_json: application.products,
  }
}
