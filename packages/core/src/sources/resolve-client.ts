import { errorCode } from '../runtime/error-code.ts'
import { runsInBrowser } from '../runtime/runtime.ts'
import {
  checkClientAuthentication,
  checkCredential,
  checkParameters,
  tokenEndpointUrl,
  type TokenRequestOptions,
} from '../protocol/build-token-request.ts'
import { createClientAuthentication, type ClientAuthentication } from '../protocol/client-authentication.ts'
import { configurationError } from '../protocol/configuration-error.ts'
import { isNextjsSignal } from '../protocol/nextjs-signal.ts'
import { isTokenError, TokenError } from '../protocol/token-error.ts'
import type { ClientCredentialsOptions, Resolvable } from './client-credentials-options.ts'

/** Client ID, URL and authentication, once functions have returned. */
export interface ResolvedClient {
  readonly options: TokenRequestOptions
  readonly issuer: string | undefined
  readonly secret: string
  readonly authentication: ClientAuthentication
}

/**
 * @param discovers whether the issuer's token endpoint is looked up; otherwise the issuer itself is used
 * @throws {TokenError} if a function fails or returns an invalid value
 */
export async function resolveClient(
  given: ClientCredentialsOptions,
  discovers: boolean,
): Promise<ResolvedClient> {
  const { issuer: discovery, ...rest } = given
  const authUrl = await resolve('authUrl', rest.authUrl)
  const issuer = await resolve('issuer', discovery?.issuer)
  const tokenEndpoint = await resolve('tokenEndpoint', rest.tokenEndpoint)
  const clientId = await resolve('clientId', rest.clientId)
  const clientSecret = await resolve('clientSecret', rest.clientSecret)
  checkOptions({ ...given, authUrl, tokenEndpoint, clientId, clientSecret })
  const server = discovers
    ? await discovery?.find(issuer!, rest.fetch, rest.allowInsecureRequests)
    : undefined
  const { clientAuthentication = server?.secretMethod() ?? 'client_secret_post' } = rest
  const secret = clientSecret ?? ''
  const authentication =
    typeof clientAuthentication === 'string'
      ? createClientAuthentication(clientAuthentication, secret)
      : clientAuthentication
  const endpoint = server?.tokenEndpoint(authentication.usesCertificate === true) ?? issuer ?? tokenEndpoint
  return {
    options: { ...rest, authUrl, tokenEndpoint: endpoint, clientId },
    issuer,
    secret,
    authentication,
  }
}

/** @throws {TokenError} of kind `configuration`, naming the option; functions are checked when they have returned */
export function checkOptions(options: ClientCredentialsOptions): void {
  const {
    issuer,
    authUrl,
    tokenEndpoint,
    clientId,
    clientSecret,
    clientAuthentication = 'client_secret_post',
    allowInsecureRequests,
  } = options
  if (runsInBrowser() && !options.dangerouslyAllowBrowser) {
    throw configurationError(
      'clientCredentials must not run in a browser, where anyone can read the client secret. ' +
        'Use backendTokens, or set dangerouslyAllowBrowser: true.',
    )
  }
  checkClientAuthentication(clientAuthentication)
  if (typeof clientId !== 'function') checkCredential('clientId', clientId)
  const usesSecret =
    clientAuthentication === 'client_secret_post' || clientAuthentication === 'client_secret_basic'
  if (usesSecret && typeof clientSecret !== 'function') checkCredential('clientSecret', clientSecret)
  if (issuer) {
    if (!issuer.find || authUrl || tokenEndpoint) {
      throw configurationError("issuer must be discover('https://…'), without authUrl or tokenEndpoint.")
    }
  } else if (typeof authUrl !== 'function' && typeof tokenEndpoint !== 'function') {
    tokenEndpointUrl({ authUrl, tokenEndpoint, allowInsecureRequests })
  }
  checkParameters(options)
}

async function resolve<Value>(option: string, value: Resolvable<Value>): Promise<Value> {
  if (typeof value !== 'function') return value
  try {
    return await (value as () => Value | Promise<Value>)()
  } catch (error) {
    if (isTokenError(error) || isNextjsSignal(error)) throw error
    throw new TokenError({
      kind: 'unavailable',
      message: `The ${option} function failed (${errorCode(error)}).`,
    })
  }
}
