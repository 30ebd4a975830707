import {
  scopes,
  startTokenRequest,
  type UnauthenticatedTokenRequest,
} from '../protocol/build-token-request.ts'
import { configurationError, failureOf, isTokenError, type TokenError } from '../protocol/token-error.ts'
import { parseTokenResponse } from '../protocol/parse-token-response.ts'
import type { TokenBinding, TokenEndpointResponse } from '../protocol/token-binding.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import { digest } from '../runtime/digest.ts'
import { Redacted } from '../runtime/redacted.ts'
import type { TokenRequestContext, TokenSource } from './token-source.ts'
import { authenticationFailed, unexpectedType, type Identity } from './grant-errors.ts'
import { redactEchoedSecrets, sentSecrets } from './redact-echoed-secrets.ts'
import { checkOptions, resolveClient, type ResolvedClient } from './resolve-client.ts'
import { sendTokenRequest, withoutQuery } from './send-token-request.ts'
import type { TokenEndpointOptions } from './token-endpoint-options.ts'

/** A token request as a {@link Grant} sees it. */
export interface GrantRequest {
  readonly tokenEndpoint: URL
  /** The authorization server's issuer identifier, if it is known. */
  readonly issuer?: string | undefined
  readonly signal: AbortSignal
}

/** The form parameters that a grant adds. */
export type GrantParameters = Readonly<Record<string, string>>

/** An extension grant (RFC 6749, section 4.5). */
export interface Grant {
  /** The `grant_type`. */
  readonly type: string
  /** What proves the right to a token, for error messages, such as `assertion`. */
  readonly proof: string
  /**
   * What the tokens depend on besides the options, such as their subject: part of the cache key, so that they are not
   * shared with others. Never an assertion or a token.
   */
  readonly key: readonly (string | undefined)[]
  /** Creates the parameters of one request. What they hold is treated as secret, apart from URNs. */
  parameters(request: GrantRequest): GrantParameters | Promise<GrantParameters>
  /** Called with the parameters that the token endpoint rejected. */
  reject?(parameters: GrantParameters): void
  /** Changes a response to these parameters, for example its lifetime. @default unchanged */
  readResponse?(response: TokenResponse, parameters: GrantParameters): TokenResponse
}

/**
 * Requests tokens with an extension grant; for authors of grants. Client authentication, discovery, retries, redaction,
 * cooldowns and the cache key are those of every source.
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createGrantSource(options: TokenEndpointOptions, grant: Grant): TokenSource {
  return new GrantSource({ ...options }, grant)
}

/** What one token request sent and received. */
interface Exchange {
  /** Every secret that was sent. */
  secrets: readonly string[]
  parameters: GrantParameters
  response?: TokenEndpointResponse
}

/** What the server has rejected. */
interface Rejected {
  /** Of the client's credentials; undefined if they cannot change. */
  readonly client: string | undefined
  /** Of the grant; undefined if they change with each request, so that a change says nothing. */
  readonly parameters: string | undefined
}

/** A class that creates nothing before it is needed, because pools keep many of these. */
export class GrantSource extends Redacted implements TokenSource {
  readonly #options: TokenEndpointOptions
  /** Undefined for client credentials. */
  readonly #grant: Grant | undefined
  #rejected: Rejected | undefined

  constructor(options: TokenEndpointOptions, grant?: Grant) {
    super()
    checkOptions(options, grant === undefined || options.clientSecret !== undefined)
    this.#options = options
    this.#grant = grant
  }

  get label(): string | undefined {
    const { clientId } = this.#options
    return typeof clientId === 'string' ? clientId : this.#grant?.key[0]
  }

  get binding(): TokenBinding | undefined {
    return this.#options.binding
  }

  #client(discovers: boolean): Promise<ResolvedClient> {
    return resolveClient(this.#options, discovers, this.#grant === undefined)
  }

  async cacheKey(): Promise<string> {
    const { options, authentication } = await this.#client(false)
    const scope = [...new Set(scopes(options.scope))].sort()
    const { url, headers, body } = startTokenRequest({ ...options, scope }, this.#grant?.type)
    const key = await digest([
      url,
      options.clientId,
      await authentication.fingerprint(),
      Array.from(headers, (pair) => JSON.stringify(pair)).sort(),
      Array.from(body, (pair) => JSON.stringify(pair)).sort(),
      this.#options.expiresInUnit ?? 'seconds',
      ...(this.#grant ? [this.#grant.key] : []),
      ...(this.binding ? [await this.binding.fingerprint()] : []),
    ])
    if (key !== undefined) return key
    throw configurationError(
      'A shared token store requires WebCrypto. Load the page over HTTPS or from localhost.',
    )
  }

  async requestToken({ signal, label = this.label }: TokenRequestContext): Promise<TokenResponse> {
    const before = this.#rejected
    this.#rejected = undefined
    const client = await this.#client(true)
    const { options, secret } = client
    const { url: tokenEndpoint } = startTokenRequest(options)
    const { clientId } = options
    const identity: Identity = {
      client: label ?? clientId,
      clientId: clientId || undefined,
      tokenEndpoint: withoutQuery(tokenEndpoint),
      proof: this.#grant?.proof,
    }
    const exchange: Exchange = { secrets: secret ? [secret] : [], parameters: {} }
    let revision: string | undefined
    try {
      // Read before the request: credentials that are replaced while it is pending have not been tried yet.
      revision = await this.#revision(client)
      const { binding } = this
      const send = (proof?: GrantParameters): Promise<TokenEndpointResponse> =>
        this.#send(client, exchange, signal, proof)
      return this.#read(await (binding ? binding.send(tokenEndpoint, send) : send()), exchange, identity)
    } catch (cause) {
      const error = failureOf(cause, (code) => authenticationFailed(code, identity))
      if (!isTokenError(error)) throw error
      // A file or a function that had nothing to send may have it soon.
      const wasNotSent = error.kind === 'configuration' && exchange.response === undefined
      const isRejection =
        error.kind === 'credentials' || (this.#grant && error.oauthError === 'invalid_request')
      if (isRejection) this.#grant?.reject?.(exchange.parameters)
      if (wasNotSent || isRejection) {
        const parameters = JSON.stringify(exchange.parameters)
        const isSame = before === undefined || before.parameters === parameters
        this.#rejected = { client: revision, parameters: isSame ? parameters : undefined }
      }
      throw this.#explain(error, client, exchange)
    }
  }

  /** Sends one request, with new parameters and a new authentication. */
  async #send(
    client: ResolvedClient,
    exchange: Exchange,
    signal: AbortSignal,
    proof?: GrantParameters,
  ): Promise<TokenEndpointResponse> {
    const { options, issuer } = client
    const request = startTokenRequest(
      { ...options, headers: { ...options.headers, ...proof } },
      this.#grant?.type,
    )
    const { url: tokenEndpoint, body } = request
    exchange.parameters = (await this.#grant?.parameters({ tokenEndpoint, issuer, signal })) ?? {}
    const parameters = Object.entries(exchange.parameters)
    for (const [name, value] of parameters) body.set(name, value)
    exchange.secrets = parameters.flatMap(([, value]) => (value.startsWith('urn:') ? [] : value))
    return this.#post(tokenEndpoint, client, request, exchange, signal)
  }

  /** Authenticates the client, and sends a request. */
  async #post(
    url: URL,
    { options, issuer, secret, authentication }: ResolvedClient,
    { url: tokenEndpoint, headers, body }: UnauthenticatedTokenRequest,
    exchange: Exchange,
    signal: AbortSignal,
  ): Promise<TokenEndpointResponse> {
    const { clientId } = options
    const names = new Set(body.keys())
    await authentication.authenticate({ clientId, tokenEndpoint, issuer, body, headers, signal })
    exchange.secrets = [...exchange.secrets, ...sentSecrets(secret, names, body, headers)]
    const init = { method: 'POST', headers: Object.fromEntries(headers), body: body.toString(), signal }
    exchange.response = await sendTokenRequest(this.#options.fetch, url, init, clientId)
    return exchange.response
  }

  /** RFC 7009, section 2.1. */
  async revokeToken(token: string, { signal, label = this.label }: TokenRequestContext): Promise<void> {
    const client = await this.#client(true)
    const { options, revocationEndpoint: url } = client
    if (url === undefined) {
      throw configurationError('revocationEndpoint is missing. Set it, because the issuer names none.')
    }
    const { clientId } = options
    const tokenEndpoint = withoutQuery(url)
    const identity: Identity = { client: label ?? clientId, clientId: clientId || undefined, tokenEndpoint }
    const exchange: Exchange = { secrets: [token], parameters: {} }
    const request = startTokenRequest(options)
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
    try {
      const response = await this.#post(url, client, { ...request, body }, exchange, signal)
      // The body takes no part in it.
      if (response.status < 200 || response.status >= 300) this.#read(response, exchange, identity)
    } catch (cause) {
      const error = failureOf(cause, (code) => authenticationFailed(code, identity))
      throw isTokenError(error) ? this.#explain(error, client, exchange) : error
    }
  }

  #read(
    { status, headers, body }: TokenEndpointResponse,
    { secrets, parameters }: Exchange,
    identity: Identity,
  ): TokenResponse {
    const { raw: _raw, ...received } = parseTokenResponse(status, headers, body, { ...identity, secrets })
    const { tokenType = 'Bearer' } = this.binding ?? {}
    if (received.tokenType !== tokenType) throw unexpectedType(received, tokenType, identity)
    const { expiresIn } = received
    const isInMilliseconds = this.#options.expiresInUnit === 'milliseconds' && expiresIn !== undefined
    const response = isInMilliseconds ? { ...received, expiresIn: expiresIn / 1000 } : received
    return this.#grant?.readResponse?.(response, parameters) ?? response
  }

  #explain(
    cause: TokenError,
    { authentication, options }: ResolvedClient,
    { secrets, response }: Exchange,
  ): TokenError {
    const error = redactEchoedSecrets(cause, secrets)
    if (response) authentication.explain?.(error, response.headers)
    if (options.authUrl && (error.status === 404 || error.status === 405)) {
      error.message +=
        ' If authUrl is the whole URL of a token endpoint, set tokenEndpoint instead; if it is an issuer, set issuer.'
    }
    return error
  }

  async credentialsChanged(): Promise<boolean> {
    if (this.#rejected === undefined) return false
    const { client: rejectedClient, parameters: rejected } = this.#rejected
    const client = await this.#client(true)
    if (rejectedClient !== undefined && (await this.#revision(client)) !== rejectedClient) return true
    if (this.#grant === undefined || rejected === undefined) return false
    const { issuer, options } = client
    const { url: tokenEndpoint } = startTokenRequest(options)
    const { signal } = new AbortController()
    const parameters = await this.#grant.parameters({ tokenEndpoint, issuer, signal })
    return JSON.stringify(parameters) !== rejected
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

  toJSON(): object {
    const { authUrl, tokenEndpoint, issuer, clientId } = this.#options
    const shown = (value: unknown): unknown => (typeof value === 'function' ? '[function]' : value)
    return {
      tokenEndpoint: withoutQuery(String(shown(authUrl ?? tokenEndpoint ?? issuer))),
      clientId: shown(clientId),
    }
  }
}
