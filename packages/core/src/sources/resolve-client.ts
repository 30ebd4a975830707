import { runsInBrowser } from '../runtime/environment.ts'
import {
  checkClientAuthentication,
  checkCredential,
  checkParameters,
  tokenEndpointUrl,
  type TokenRequestOptions,
} from '../protocol/build-token-request.ts'
import {
  createClientAuthentication,
  platformPath,
  platformRevocationPath,
  type ClientAuthentication,
} from '../protocol/client-authentication.ts'
import { configurationError, failureOf, TokenError } from '../protocol/token-error.ts'
import { secureUrl } from '../protocol/secure-url.ts'
import { discover } from './discover.ts'
import type { Resolvable, TokenEndpointOptions } from './token-endpoint-options.ts'

/** Client ID, URL and authentication, once functions have returned. */
export interface ResolvedClient {
  readonly options: TokenRequestOptions
  readonly issuer: string | undefined
  readonly revocationEndpoint: URL | undefined
  readonly secret: string
  readonly authentication: ClientAuthentication
}

/**
 * @param discovers whether the issuer's token endpoint is looked up; otherwise the issuer itself is used
 * @param requiresClient whether a client must authenticate, as for client credentials
 * @throws {TokenError} if a function fails or returns an invalid value
 */
export async function resolveClient(
  given: TokenEndpointOptions,
  discovers: boolean,
  requiresClient: boolean,
): Promise<ResolvedClient> {
  const { issuer: givenIssuer, ...rest } = given
  const authUrl = await resolveOption('authUrl', rest.authUrl)
  const issuer = await resolveOption('issuer', givenIssuer)
  const tokenEndpoint = await resolveOption('tokenEndpoint', rest.tokenEndpoint)
  const clientId = await resolveOption('clientId', rest.clientId)
  const clientSecret = await resolveOption('clientSecret', rest.clientSecret)
  const usesSecret = requiresClient || rest.clientSecret !== undefined
  const isAnonymous = !requiresClient && rest.clientId === undefined
  const resolved = {
    authUrl,
    issuer,
    tokenEndpoint,
    clientId: isAnonymous ? clientId : (clientId ?? ''),
    clientSecret,
  }
  checkOptions({ ...given, ...resolved }, usesSecret)
  const server =
    discovers && issuer !== undefined
      ? await discover(issuer, rest.fetch, rest.allowInsecureRequests)
      : undefined
  const { clientAuthentication = usesSecret ? (server?.secretMethod() ?? 'client_secret_post') : 'none' } =
    rest
  const secret = clientSecret ?? ''
  const authentication =
    typeof clientAuthentication === 'string'
      ? createClientAuthentication(clientAuthentication, secret)
      : clientAuthentication
  const { revocationEndpoint = authUrl && platformRevocation(authUrl) } = rest
  const endpoint = server?.tokenEndpoint(authentication.usesCertificate === true) ?? issuer ?? tokenEndpoint
  return {
    options: { ...rest, authUrl, tokenEndpoint: endpoint, clientId: clientId ?? '' },
    issuer,
    revocationEndpoint:
      revocationEndpoint === undefined ? server?.revocationEndpoint : new URL(revocationEndpoint),
    secret,
    authentication,
  }
}

/** The platform's endpoint, beside its token endpoint. */
function platformRevocation(authUrl: string | URL): string {
  return tokenEndpointUrl({ authUrl, allowInsecureRequests: true }).href.replace(
    platformPath,
    platformRevocationPath,
  )
}

/** @throws {TokenError} of kind `configuration`, naming the option; functions are checked when they have returned */
export function checkOptions(options: TokenEndpointOptions, usesSecret: boolean): void {
  const { issuer, authUrl, tokenEndpoint, clientId, clientSecret, allowInsecureRequests } = options
  const { clientAuthentication = usesSecret ? 'client_secret_post' : 'none' } = options
  if (runsInBrowser() && !options.dangerouslyAllowBrowser) {
    throw configurationError(
      'clientCredentials and other grants must not run in a browser, where anyone can read the client secret. ' +
        'Use backendTokens, or set dangerouslyAllowBrowser: true.',
    )
  }
  checkClientAuthentication(clientAuthentication)
  const isAnonymous = !usesSecret && clientAuthentication === 'none' && clientId === undefined
  if (typeof clientId !== 'function' && !isAnonymous) checkCredential('clientId', clientId)
  const sendsSecret =
    clientAuthentication === 'client_secret_post' || clientAuthentication === 'client_secret_basic'
  if (sendsSecret && typeof clientSecret !== 'function') checkCredential('clientSecret', clientSecret)
  if (issuer !== undefined) {
    if (authUrl !== undefined || tokenEndpoint !== undefined) {
      throw configurationError('issuer, authUrl and tokenEndpoint are mutually exclusive.')
    }
    if (typeof issuer !== 'function') checkIssuer(issuer, allowInsecureRequests)
  } else if (typeof authUrl !== 'function' && typeof tokenEndpoint !== 'function') {
    tokenEndpointUrl({ authUrl, tokenEndpoint, allowInsecureRequests })
  }
  const { revocationEndpoint } = options
  if (revocationEndpoint !== undefined)
    secureUrl('revocationEndpoint', revocationEndpoint, allowInsecureRequests)
  checkParameters(options)
}

function checkIssuer(issuer: string, allowInsecureRequests: boolean | undefined): void {
  if (typeof issuer !== 'string') {
    throw configurationError("issuer must be a string, such as 'https://login.example.com'.")
  }
  if (secureUrl('issuer', issuer, allowInsecureRequests).search) {
    throw configurationError('issuer must not contain a query.')
  }
}

export async function resolveOption<Value>(option: string, value: Resolvable<Value>): Promise<Value> {
  if (typeof value !== 'function') return value
  try {
    return await (value as () => Value | Promise<Value>)()
  } catch (error) {
    throw failureOf(
      error,
      (code) => new TokenError({ kind: 'unavailable', message: `The ${option} function failed (${code}).` }),
    )
  }
}
