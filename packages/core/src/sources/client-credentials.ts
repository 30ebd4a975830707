import { runsInBrowser } from '../platform/runtime.ts'
import { digest } from '../platform/digest.ts'
import { errorCode } from '../platform/error-code.ts'
import { Redacted } from '../platform/redacted.ts'
import {
  checkClientAuthentication,
  checkCredential,
  checkParameters,
  scopes,
  startTokenRequest,
  tokenEndpoint,
  type TokenRequestOptions,
} from '../protocol/build-token-request.ts'
import {
  createClientAuthentication,
  type ClientAuthentication,
  type ClientAuthenticationMethod,
} from '../protocol/client-authentication.ts'
import { configurationError } from '../protocol/configuration-error.ts'
import { isNextjsSignal } from '../protocol/nextjs-signal.ts'
import { parseTokenResponse } from '../protocol/parse-token-response.ts'
import type { TokenBinding } from '../protocol/token-binding.ts'
import { changeTokenError, isTokenError, TokenError } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import { onCredentialsChange } from '../tokens/credentials-change.ts'
import type { TokenRequestContext, TokenSource } from '../tokens/token-source.ts'
import { redactEcho, sentSecrets } from './redact-echo.ts'
import {
  sendTokenRequest,
  withoutQuery,
  type FetchLike,
  type TokenEndpointResponse,
} from './send-token-request.ts'

type Resolvable<Value> = Value | (() => Value | Promise<Value>)

/**
 * How an application authenticates to a token endpoint. Set `authUrl` or `tokenUrl`. An option that takes a
 * function calls it before each token request, so that a module can be loaded without its environment.
 */
export interface ClientCredentialsOptions extends Omit<
  TokenRequestOptions,
  'authUrl' | 'tokenUrl' | 'clientId'
> {
  /** Base URL of the platform's token service. */
  readonly authUrl?: Resolvable<string | URL | undefined>
  /** URL of any other RFC 6749 token endpoint. */
  readonly tokenUrl?: Resolvable<string | URL | undefined>
  /** Client ID, also called Consumer Key. */
  readonly clientId: Resolvable<string>
  /** Client secret, also called Consumer Secret. */
  readonly clientSecret?: Resolvable<string> | undefined
  /**
   * Credentials in the form body (`post`), in an `Authorization: Basic` header (`basic`, RFC 6749, section
   * 2.3.1; some servers do not form-decode it and then reject special characters), the client ID alone
   * (`none`), or a method of your own.
   * @default 'post'
   */
  readonly clientAuthentication?: ClientAuthenticationMethod | ClientAuthentication | undefined
  /** Binds the tokens to a key (DPoP, RFC 9449), so that a stolen token is of no use. @default bearer tokens */
  readonly binding?: TokenBinding | undefined
  /** Unit of `expires_in` in the response. @default 'seconds' */
  readonly expiresInUnit?: 'seconds' | 'milliseconds' | undefined
  /** Puts the endpoint's `error_description` into errors, secrets redacted. @default false */
  readonly includeErrorDescription?: boolean | undefined
  /** @default the global fetch, looked up at each request */
  readonly fetch?: FetchLike | undefined
  /** Allows use in a browser, where everybody can read the secret. @default false */
  readonly dangerouslyAllowBrowser?: boolean | undefined
}

/**
 * Requests tokens by the client credentials grant (RFC 6749, section 4.4).
 *
 * @example
 * const tokens = createTokenProvider(clientCredentials({ authUrl, clientId, clientSecret }))
 * const { value } = await tokens.getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function clientCredentials(options: ClientCredentialsOptions): TokenSource {
  return new ClientCredentials({ ...options })
}

/** Client ID, URL and authentication, once functions have returned. */
interface ResolvedClient {
  readonly options: TokenRequestOptions
  readonly secret: string
  readonly authentication: ClientAuthentication
}

/** A class, and nothing is created before it is needed: pools keep many of these. */
class ClientCredentials extends Redacted implements TokenSource {
  readonly #options: ClientCredentialsOptions

  constructor(options: ClientCredentialsOptions) {
    super()
    checkOptions(options)
    this.#options = options
  }

  get label(): string | undefined {
    const { clientId } = this.#options
    return typeof clientId === 'string' ? clientId : undefined
  }

  get binding(): TokenBinding | undefined {
    return this.#options.binding
  }

  async cacheKey(): Promise<string> {
    const { options, authentication } = await this.#resolve()
    const scope = [...new Set(scopes(options.scope))].sort()
    const { url, headers, body } = startTokenRequest({ ...options, scope })
    const key = await digest([
      url,
      options.clientId,
      await authentication.fingerprint(),
      Array.from(headers, (pair) => JSON.stringify(pair)).sort(),
      Array.from(body, (pair) => JSON.stringify(pair)).sort(),
      this.#options.expiresInUnit ?? 'seconds',
      ...(this.binding ? [await this.binding.fingerprint()] : []),
    ])
    if (key !== undefined) return key
    throw configurationError(
      'A shared token store requires WebCrypto. Load the page over HTTPS or from localhost.',
    )
  }

  async requestToken(context: TokenRequestContext): Promise<TokenResponse> {
    const client = await this.#resolve()
    return (await this.#send(context, client, true)) ?? (await this.#send(context, client, false))!
  }

  /** Undefined if the request lacked the server's nonce, which is known now. */
  async #send(
    { signal, label }: TokenRequestContext,
    resolved: ResolvedClient,
    mayRepeat: boolean,
  ): Promise<TokenResponse | undefined> {
    const { fetch, binding, expiresInUnit, includeErrorDescription } = this.#options
    const { options, secret, authentication } = resolved
    const { clientId } = options
    const { url, headers, body } = startTokenRequest(options)
    const parameters = new Set(body.keys())
    const identity = { client: label ?? clientId, clientId, tokenEndpoint: withoutQuery(url) }
    let sent: readonly string[] = secret ? [secret] : []
    let received: TokenEndpointResponse | undefined
    let revision: string | undefined
    const receive = (oauthError?: string): boolean =>
      (received && binding?.receive(url, received.headers, oauthError)) ?? false
    try {
      // Before the request: what is replaced while it is pending has not been tried yet.
      revision = await this.#revision(resolved)
      await authentication.authenticate({ clientId, tokenEndpoint: url, body, headers, signal })
      const proof = await binding?.prove({ method: 'POST', url })
      for (const [name, value] of Object.entries(proof ?? {})) headers.set(name, value)
      sent = [...sentSecrets(secret, parameters, body, headers), ...Object.values(proof ?? {})]
      const init = { method: 'POST', headers: Object.fromEntries(headers), body: body.toString(), signal }
      received = await sendTokenRequest(fetch, url, init, clientId)
      const { raw: _raw, ...response } = parseTokenResponse(
        received.status,
        received.headers,
        received.body,
        { ...identity, includeErrorDescription },
      )
      receive()
      if (response.tokenType !== (binding?.tokenType ?? 'Bearer')) throw unexpectedType(response, identity)
      if (expiresInUnit !== 'milliseconds' || !response.expiresIn) return response
      return { ...response, expiresIn: response.expiresIn / 1000 }
    } catch (cause) {
      if (isNextjsSignal(cause)) throw cause
      if (!isTokenError(cause)) throw authenticationFailed(cause, identity)
      if (receive(cause.oauthError) && mayRepeat) return undefined
      const error = redactEcho(explain(cause, received, resolved, binding), sent)
      if (error.kind === 'credentials' && revision !== undefined) {
        onCredentialsChange(error, async () => (await this.#revision(await this.#resolve())) !== revision)
      }
      throw error
    }
  }

  /** Changes with a secret, key or file that can change; a change ends the cooldown after a rejection. */
  async #revision({ authentication, options }: ResolvedClient): Promise<string | undefined> {
    const { clientId, clientSecret, clientAuthentication } = this.#options
    const canChange = [clientId, clientSecret, clientAuthentication].some(
      (option) => typeof option === 'function' || typeof option === 'object',
    )
    if (!canChange) return undefined
    return `${options.clientId} ${await (authentication.revision?.() ?? authentication.fingerprint())}`
  }

  /** @throws {TokenError} if a function fails or returns an invalid value */
  async #resolve(): Promise<ResolvedClient> {
    const { clientAuthentication = 'post', ...rest } = this.#options
    const authUrl = await resolve('authUrl', rest.authUrl)
    const tokenUrl = await resolve('tokenUrl', rest.tokenUrl)
    const clientId = await resolve('clientId', rest.clientId)
    const clientSecret = await resolve('clientSecret', rest.clientSecret)
    const options = { ...rest, authUrl, tokenUrl, clientId }
    checkOptions({ ...this.#options, authUrl, tokenUrl, clientId, clientSecret })
    const secret = clientSecret ?? ''
    const authentication =
      typeof clientAuthentication === 'string'
        ? createClientAuthentication(clientAuthentication, secret)
        : clientAuthentication
    return { options, secret, authentication }
  }

  toJSON(): object {
    const { authUrl, tokenUrl, clientId } = this.#options
    const shown = (value: unknown): unknown => (typeof value === 'function' ? '[function]' : value)
    return {
      tokenEndpoint: withoutQuery(String(shown(authUrl ?? tokenUrl))),
      clientId: shown(clientId),
    }
  }
}

/** @throws {TokenError} of kind `configuration`, naming the option; functions are checked when they have returned */
function checkOptions(options: ClientCredentialsOptions): void {
  const { authUrl, tokenUrl, clientId, clientSecret, clientAuthentication = 'post', allowInsecure } = options
  if (runsInBrowser() && !options.dangerouslyAllowBrowser) {
    throw configurationError(
      'clientCredentials must not run in a browser, where everybody can read the client secret. ' +
        'Use backendTokens, or set dangerouslyAllowBrowser: true.',
    )
  }
  checkClientAuthentication(clientAuthentication)
  if (typeof clientId !== 'function') checkCredential('clientId', clientId)
  const usesSecret = clientAuthentication === 'post' || clientAuthentication === 'basic'
  if (usesSecret && typeof clientSecret !== 'function') checkCredential('clientSecret', clientSecret)
  if (typeof authUrl !== 'function' && typeof tokenUrl !== 'function') {
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

function authenticationFailed(cause: unknown, { client, clientId, tokenEndpoint }: Identity): TokenError {
  return new TokenError({
    kind: 'unavailable',
    message: `The client authentication of "${client}" failed (${errorCode(cause)}).`,
    clientId,
    tokenEndpoint,
  })
}

function explain(
  error: TokenError,
  received: TokenEndpointResponse | undefined,
  { authentication }: ResolvedClient,
  binding: TokenBinding | undefined,
): TokenError {
  const { kind, oauthError } = error
  const source = oauthError === 'invalid_dpop_proof' ? binding : kind === 'credentials' && authentication
  const explanation = (source && received && source.explain?.(received.headers)) || ''
  return explanation ? changeTokenError(error, { message: `${error.message} ${explanation}` }) : error
}

/** A token that is bound to a key is of no use without the key; a bearer token lacks the protection that was asked for. */
function unexpectedType({ tokenType }: TokenResponse, { clientId, tokenEndpoint }: Identity): TokenError {
  const isBound = tokenType !== 'Bearer'
  return new TokenError({
    kind: 'malformed',
    message: `The token endpoint ${tokenEndpoint} issued a ${tokenType} token. ${isBound ? 'Set' : 'Allow DPoP for this client there, or remove'} binding.`,
    clientId,
    tokenEndpoint,
  })
}

interface Identity {
  readonly client: string
  readonly clientId: string
  readonly tokenEndpoint: string
}
