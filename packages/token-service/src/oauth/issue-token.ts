import { isBeingDeleted, type Application } from '../storage/application.ts'
import type { Caller } from './authenticate-client.ts'
import { presentedCredentials, presentsCredentials } from './presented-credentials.ts'
import {
  jwtBearer,
  presentedIdentity,
  repeatedGrant,
  requestedResource,
  requestedScope,
  tokenQuery,
} from './oauth-parameters.ts'
import type { TokenResponse } from './oauth-responses.ts'
import { parseParameters, type RawParameters } from './parameters.ts'
import { ProtocolError } from './protocol-error.ts'
import { createTokenResponse } from './token-response.ts'
import type { ServiceContext } from './service-context.ts'
import { createJwt, type AlterJwt } from './jwt-access-token.ts'
import { accessTokenHash, createAccessToken } from './access-token.ts'

export interface TokenRequest {
  readonly query: RawParameters
  readonly form: RawParameters
  readonly authorization: string | undefined
  readonly caller: Caller
  /** The `iss` of a JWT. */
  readonly issuer: () => string
  /** For tests: changes a JWT before it is signed. */
  readonly alterJwt?: AlterJwt | undefined
}

export type IssueToken = (request: TokenRequest) => Promise<{ clientId: string; response: TokenResponse }>

/** Issues access tokens for client credentials (RFC 6749, section 4.4), or for the JWT of a trusted issuer (RFC 7523, section 2.1). */
export function createTokenIssuer(context: ServiceContext): IssueToken {
  const { authenticateApplication, authenticateByGrant, storage, activity, clock, grantTypeIn, signingKeys } =
    context

  /** A client that also has credentials may authenticate with them (RFC 7521, section 4.1). */
  async function identify(form: RawParameters, authorization: string | undefined, caller: Caller) {
    const { assertion, client_id } = parseParameters(presentedIdentity, form)
    const authenticated = presentsCredentials(authorization, form)
      ? await authenticateApplication(presentedCredentials(authorization, form), caller)
      : undefined
    const clientId = authenticated?.client.application.clientId ?? client_id
    return authenticateByGrant({ assertion, clientId }, caller)
  }

  return async ({ query, form, authorization, caller, issuer, alterJwt }) => {
    const isInForm = query['grant_type'] === undefined && form['grant_type'] !== undefined
    if (isInForm && grantTypeIn === 'query') throw new ProtocolError('grant_type_not_in_query')
    const { grant_type: grant } = parseParameters(tokenQuery, isInForm ? form : query)
    if (![undefined, grant].includes(parseParameters(repeatedGrant, form).grant_type))
      throw new ProtocolError('malformed_parameter', { parameter: 'grant_type' })
    const { client, credential } =
      grant === jwtBearer
        ? await identify(form, authorization, caller)
        : await authenticateApplication(presentedCredentials(authorization, form), caller)
    const { application } = client
    const { id: applicationId, clientId, status, products, tokenGeneration: generation } = application
    if (status !== 'approved' || isBeingDeleted(client))
      throw new ProtocolError('application_not_approved', { clientId })

    if (form['authorization_details'] !== undefined)
      throw new ProtocolError('invalid_authorization_details', { clientId })
    const scopes = grantedScopes(application, parseParameters(requestedScope, form).scope)

    const issuedAtMs = clock.now()
    // A token expires with its secret or key.
    const { expiresAtMs: credentialExpiresAtMs = Infinity } = credential
    const lifetimeSeconds = Math.min(
      application.lifetimeSeconds,
      Math.ceil((credentialExpiresAtMs - issuedAtMs) / 1000),
    )
    const expiresAtMs = issuedAtMs + lifetimeSeconds * 1000
    const granted = { products, scopes, issuedAtMs, expiresAtMs }
    const value =
      application.tokenFormat === 'opaque'
        ? createAccessToken(issuedAtMs)
        : await createJwt(
            { application, issuer: issuer(), audiences: grantedAudiences(application, form), ...granted },
            signingKeys,
            alterJwt,
          )
    const token = { applicationId, secretId: credential.id, generation, ...granted }
    await storage.tokens.save({ hash: accessTokenHash(value), ...token })
    const { address } = caller
    activity.tokenRequested({ clientId, outcome: 'issued', address, used: [applicationId, credential.id] })
    return { clientId, response: createTokenResponse({ value, scopes, issuedAtMs, lifetimeSeconds }, client) }
  }
}

/**
 * All scopes of the application, or those that the request narrows them to. In the platform's formats, whose responses
 * always state the scope, an application without scopes may send any: it gets none.
 */
function grantedScopes(
  { scopes, responseForm, clientId }: Application,
  scope: string | undefined,
): readonly string[] {
  const requested = [...new Set(scope?.split(' ').filter(Boolean))]
  if (requested.length === 0 || (scopes.length === 0 && responseForm !== 'rfc6749')) return scopes
  if (!requested.every((one) => scopes.includes(one))) throw new ProtocolError('invalid_scope', { clientId })
  return requested
}

/** All audiences of the application, or those that the request narrows them to. */
function grantedAudiences({ audiences, clientId }: Application, form: RawParameters): readonly string[] {
  const requested = [parseParameters(requestedResource, form).resource ?? []].flat()
  if (requested.length === 0) return audiences
  if (!requested.every((one) => audiences.includes(one)))
    throw new ProtocolError('invalid_target', { clientId })
  return [...new Set(requested)]
}
