import { refreshed } from '@tokenwell/core/adapter'
import { metadataUrl, readBody } from '@tokenwell/core/protocol'
import { createRemoteKeySet, type KeySet } from '@tokenwell/resource-server/internal'
import type { Configuration } from 'openid-client'
import type { OpenidProviderSettings } from '../people/openid-provider-settings.ts'
import { reference, unstorablePart } from '../../runtime/bounds.ts'
import type { ServiceContext } from '../context.ts'

const toleranceSeconds = 60
const timeoutSeconds = 5
const timeoutMs = timeoutSeconds * 1_000
/** How long metadata is used, and how much longer while it cannot be loaded again. */
const metadataMs = 3_600_000

/** What the response of the provider to a log-in must contain. */
export interface LogInSecrets {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** Whom the provider has logged in. */
export interface Person {
  readonly issuer: string
  readonly subject: string
  readonly name: string | undefined
  readonly groups: readonly string[]
  /** The provider's ID of its own session. */
  readonly sid: string | undefined
  readonly idToken: string
}

/** Whether the database can store and index the ID of a person, a session or a token: providers choose what it is. */
export function isProviderId(value: unknown): value is string {
  return reference.min(1).safeParse(value).success && unstorablePart(value) === undefined
}

/** Why there is no log-in: the provider cannot be used now, rejected it, or sent a response that is not valid. */
export class OpenidFailure extends Error {
  readonly reason: 'unavailable' | 'rejected' | 'invalid'

  constructor(reason: OpenidFailure['reason']) {
    super(reason)
    this.name = 'OpenidFailure'
    this.reason = reason
  }
}

/** Logs people in by the authorization code flow with PKCE (OpenID Connect Core 1.0, RFC 7636). */
export interface OpenidProvider {
  readonly settings: OpenidProviderSettings
  /** @throws {@link OpenidFailure} */
  begin(redirectUri: string): Promise<LogInSecrets & { readonly url: string }>
  /** `response`: the redirect URI with the query that the provider sent. @throws {@link OpenidFailure} */
  finish(response: URL, secrets: LogInSecrets): Promise<Person>
  /** Where the provider ends its own session (RP-initiated logout), if it does so. */
  logOutUrl(idToken: string, returnTo: string): Promise<string | undefined>
  /** The provider's public keys. Verifying throws an {@link OpenidFailure} if they cannot be loaded. */
  readonly keys: KeySet
}

/** What the pages of the portal work with. */
export interface PortalService extends ServiceContext {
  /** Through which people log in, if one is configured. */
  readonly openid: OpenidProvider | undefined
}

export function createOpenidProvider(
  settings: OpenidProviderSettings,
  { warn }: Pick<ServiceContext, 'warn'>,
): OpenidProvider {
  // Loaded on first use, as the metadata: the service starts without the provider.
  const load = () => import('openid-client')
  async function discover(): Promise<Configuration> {
    const openid = await load()
    const authenticate: typeof openid.None =
      () =>
      (server, ...request) => {
        const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
        const method = methods.includes('client_secret_basic')
          ? openid.ClientSecretBasic
          : openid.ClientSecretPost
        return method(settings.clientSecret)(server, ...request)
      }
    return openid.discovery(
      new URL(settings.issuer),
      settings.clientId,
      { [openid.clockTolerance]: toleranceSeconds },
      authenticate(),
      {
        timeout: timeoutSeconds,
        execute: [
          openid.enableNonRepudiationChecks,
          ...(settings.issuer.startsWith('http:') ? [openid.allowInsecureRequests] : []),
        ],
      },
    )
  }

  const metadata = refreshed<Configuration>(
    async () => {
      try {
        return await discover()
      } catch (error) {
        warn(`The metadata of the OpenID provider ${settings.name} cannot be used: ${describe(error)}.`)
        throw new OpenidFailure('unavailable')
      }
    },
    // People try again at once: nothing is paused.
    { maxAgeMs: metadataMs, keepMs: metadataMs, pauseMs: 0, timeoutMs: 2 * timeoutMs },
  )

  const keys = createRemoteKeySet(
    async () => {
      const { jwks_uri: url = '' } = (await metadata.get()).serverMetadata()
      if (!isFromIssuer(url, settings.issuer)) throw new OpenidFailure('invalid')
      try {
        const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
        const { keys: found } = Object(JSON.parse(await readBody(response))) as { readonly keys?: unknown }
        if (response.ok && Array.isArray(found)) return found
      } catch (error) {
        warn(`The keys of the OpenID provider ${settings.name} cannot be loaded: ${describe(error)}.`)
      }
      metadata.expire()
      throw new OpenidFailure('unavailable')
    },
    { pauseMs: 1_000, timeoutMs: 3 * timeoutMs },
  )

  return {
    settings,
    async begin(redirectUri) {
      const [openid, provider] = await Promise.all([load(), metadata.get()])
      const secrets = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        codeVerifier: openid.randomPKCECodeVerifier(),
      }
      const url = openid.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(secrets.codeVerifier),
        code_challenge_method: 'S256',
      })
      return { ...secrets, url: url.href }
    },
    async finish(response, { state, nonce, codeVerifier }) {
      const [openid, provider] = await Promise.all([load(), metadata.get()])
      try {
        const tokens = await openid.authorizationCodeGrant(provider, response, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
        })
        const claims = tokens.claims()!
        if (!isProviderId(claims.sub)) throw new Error('the sub of the ID token is invalid')
        // openid-client checks only that it is a number.
        if (claims.iat > Date.now() / 1000 + toleranceSeconds)
          throw new Error('the ID token was issued in the future')
        const isComplete = [settings.nameClaim, settings.groupsClaim].every((name) => name in claims)
        const more =
          isComplete || provider.serverMetadata().userinfo_endpoint === undefined
            ? {}
            : await openid.fetchUserInfo(provider, tokens.access_token, claims.sub)
        const all: Readonly<Record<string, unknown>> = { ...more, ...claims }
        const name = all[settings.nameClaim]
        return {
          issuer: claims.iss,
          subject: claims.sub,
          name: typeof name === 'string' ? name : undefined,
          groups: [all[settings.groupsClaim]].flat().filter((group) => typeof group === 'string'),
          sid: isProviderId(claims['sid']) ? claims['sid'] : undefined,
          idToken: tokens.id_token!,
        }
      } catch (error) {
        const reason = reasonOf(error)
        warn(`A log-in through the OpenID provider ${settings.name} failed (${reason}): ${describe(error)}.`)
        throw new OpenidFailure(error instanceof openid.AuthorizationResponseError ? 'rejected' : reason)
      }
    },
    async logOutUrl(idToken, returnTo) {
      try {
        const [openid, provider] = await Promise.all([load(), metadata.get()])
        if (provider.serverMetadata().end_session_endpoint === undefined) return undefined
        const parameters = { id_token_hint: idToken, post_logout_redirect_uri: returnTo }
        return openid.buildEndSessionUrl(provider, parameters).href
      } catch (error) {
        if (error instanceof OpenidFailure) return undefined
        throw error
      }
    },
    keys,
  }
}

function isFromIssuer(url: string, issuer: string): boolean {
  try {
    return metadataUrl('jwks_uri', url, issuer).protocol === new URL(issuer).protocol
  } catch {
    return false
  }
}

function reasonOf(error: unknown): 'unavailable' | 'invalid' {
  const { code, cause, name } = error as { code?: unknown; cause?: unknown; name?: unknown }
  const status = cause instanceof Response ? cause.status : 0
  const isNetwork = name === 'TypeError' && cause instanceof Error
  return isNetwork || code === 'OAUTH_TIMEOUT' || status >= 500 ? 'unavailable' : 'invalid'
}

/** Names codes alone: descriptions are the provider's, or contain what was sent. */
function describe(error: unknown): string {
  const { error: response, code, cause, message } = error as Record<string, unknown>
  const inner = (cause as { code?: unknown } | undefined)?.code
  const codes = [response, code, inner].filter((each) => typeof each === 'string' && /^\w{1,80}$/.test(each))
  return [...new Set(codes)].join(', ') || (typeof message === 'string' ? message : 'unknown reason')
}
