import { errorCode } from '../platform/error-code.ts'
import { runsInBrowser } from '../platform/runtime.ts'
import {
  checkClientAuthentication,
  checkCredential,
  checkParameters,
  tokenEndpoint,
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
  const tokenUrl = await resolve('tokenUrl', rest.tokenUrl)
  const clientId = await resolve('clientId', rest.clientId)
  const clientSecret = await resolve('clientSecret', rest.clientSecret)
  checkOptions({ ...given, authUrl, tokenUrl, clientId, clientSecret })
  const server = discovers ? await discovery?.find(issuer!, rest.fetch, rest.allowInsecure) : undefined
  const { clientAuthentication = server?.secretMethod() ?? 'post' } = rest
  const secret = clientSecret ?? ''
  const authentication =
    typeof clientAuthentication === 'string'
      ? createClientAuthentication(clientAuthentication, secret)
      : clientAuthentication
  const endpoint = server?.tokenUrl(authentication.usesCertificate === true) ?? issuer ?? tokenUrl
  return {
    options: { ...rest, authUrl, tokenUrl: endpoint, clientId },
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
    tokenUrl,
    clientId,
    clientSecret,
    clientAuthentication = 'post',
    allowInsecure,
  } = options
  if (runsInBrowser() && !options.dangerouslyAllowBrowser) {
    throw configurationError(
      'clientCredentials must not run in a browser, where anyone can read the client secret. ' +
        'Use backendTokens, or set dangerouslyAllowBrowser: true.',
    )
  }
  checkClientAuthentication(clientAuthentication)
  if (typeof clientId !== 'function') checkCredential('clientId', clientId)
  const usesSecret = clientAuthentication === 'post' || clientAuthentication === 'basic'
  if (usesSecret && typeof clientSecret !== 'function') checkCredential('clientSecret', clientSecret)
  if (issuer) {
    if (!issuer.find || authUrl || tokenUrl) {
      throw configurationError("issuer must be discover('https://…'), without authUrl or tokenUrl.")
    }
  } else if (typeof authUrl !== 'function' && typeof tokenUrl !== 'function') {
    tokenEndpoint({ authUrl, tokenUrl, allowInsecure })
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
