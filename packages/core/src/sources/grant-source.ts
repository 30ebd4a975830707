import { scopes, startTokenRequest } from '../protocol/build-token-request.ts'
import {
  formEncode,
  platformPath,
  platformRevocationPath,
  type ClientAuthenticationRequest,
} from '../protocol/client-authentication.ts'
import type { RequestIdentity } from '../protocol/error-response.ts'
import {
  changeTokenError,
  configurationError,
  failureOf,
  isTokenError,
  TokenError,
  type TokenFailure,
} from '../protocol/token-error.ts'
import { parseTokenResponse } from '../protocol/parse-token-response.ts'
import type { TokenBinding, TokenEndpointResponse } from '../protocol/token-binding.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import { digest } from '../runtime/digest.ts'
import { Redacted } from '../runtime/redacted.ts'
import type { TokenRequestContext, TokenSource } from '../protocol/token-source.ts'
import { checkClient, resolveClient, type ResolvedClient, type TokenEndpointOptions } from './client.ts'
import { whileWaiting } from '../runtime/wait.ts'
import { sendTokenRequest, withoutQuery, type Endpoint } from './send.ts'

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
 * Creates a source of tokens, for authors of grants. Client authentication, discovery, retries, redaction, cooldowns and the
 * cache key are those of every source. Pass it to `createTokenProvider`.
 *
 * @param grant an extension grant; without one, the client credentials grant
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createGrantSource(options: TokenEndpointOptions, grant?: Grant): TokenSource {
  return new GrantSource({ ...options }, grant)
}

/** One token request: who sends it, and what was sent and received. */
interface Exchange {
  readonly client: ResolvedClient
  readonly identity: Identity
  /** Every secret that was sent. */
  secrets: readonly string[]
  parameters: GrantParameters
  usesHeader?: boolean
  /** The last request that was responded to, as the client authenticated it. */
  responded?: { readonly request: ClientAuthenticationRequest; readonly response: TokenEndpointResponse }
}

/** A request before the client has authenticated. */
interface PreparedRequest {
  readonly headers: Headers
  readonly body: URLSearchParams
  /** Names of the headers and parameters that come from options, and may be no secrets. */
  readonly configured: ReadonlySet<string>
}

/** Who requested a token where. */
interface Identity extends RequestIdentity {
  readonly client: string
  readonly tokenEndpoint: string
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
    checkClient(options, grant === undefined)
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

  #client(discovers: boolean, signal?: AbortSignal): Promise<ResolvedClient> {
    const requiresClient = this.#grant === undefined
    return resolveClient(this.#options, { requiresClient, discovers, grantType: this.#grant?.type, signal })
  }

  async cacheKey(): Promise<string> {
    const { clientId, tokenEndpoint, authUrl, authentication } = await this.#client(false)
    const scope = [...new Set(scopes(this.#options.scope))].sort()
    const options = { ...this.#options, scope }
    const { headers, body } = startTokenRequest(options, authUrl === undefined, this.#grant?.type)
    const key = await digest([
      tokenEndpoint,
      clientId,
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

  async requestToken({ signal, label }: TokenRequestContext): Promise<TokenResponse> {
    const before = this.#rejected
    this.#rejected = undefined
    const client = await this.#client(true, signal)
    const exchange = this.#exchange(client, client.tokenEndpoint, label)
    let revision: string | undefined
    try {
      // Read before the request: credentials that are replaced while it is pending have not been tried yet.
      revision = await this.#revision(client)
      const { binding } = this
      const send = (proof?: GrantParameters): Promise<TokenEndpointResponse> =>
        this.#send(exchange, signal, proof)
      return this.#read(await (binding ? binding.send(client.tokenEndpoint, send) : send()), exchange)
    } catch (cause) {
      const error = this.#explain(cause, exchange)
      if (!isTokenError(error)) throw error
      // The file or the assertion that was missing may be there soon.
      const wasNotSent = error.kind === 'configuration' && exchange.responded === undefined
      const isRejection =
        error.kind === 'credentials' || (this.#grant && error.oauthError === 'invalid_request')
      if (isRejection) this.#grant?.reject?.(exchange.parameters)
      if (wasNotSent || isRejection) {
        const parameters = JSON.stringify(exchange.parameters)
        const isSame = before === undefined || before.parameters === parameters
        this.#rejected = { client: revision, parameters: isSame ? parameters : undefined }
      }
      throw error
    }
  }

  #exchange(client: ResolvedClient, url: URL, label = this.label): Exchange {
    const { clientId, secret } = client
    return {
      client,
      identity: {
        client: label ?? clientId,
        clientId: clientId || undefined,
        tokenEndpoint: withoutQuery(url),
        proof: this.#grant?.proof,
      },
      secrets: secret ? [secret] : [],
      parameters: {},
    }
  }

  /** Sends one request, with new parameters and a new authentication. */
  async #send(
    exchange: Exchange,
    signal: AbortSignal,
    proof?: GrantParameters,
  ): Promise<TokenEndpointResponse> {
    const { tokenEndpoint, authUrl, issuer } = exchange.client
    const options = proof
      ? { ...this.#options, headers: { ...this.#options.headers, ...proof } }
      : this.#options
    const { headers, body } = startTokenRequest(options, authUrl === undefined, this.#grant?.type)
    const configured = new Set([...headers.keys(), ...body.keys()])
    exchange.parameters = (await this.#grant?.parameters({ tokenEndpoint, issuer, signal })) ?? {}
    for (const [name, value] of Object.entries(exchange.parameters)) body.set(name, value)
    return this.#post('token endpoint', tokenEndpoint, { headers, body, configured }, exchange, signal)
  }

  /** Authenticates the client, and sends a request. */
  async #post(
    endpoint: Endpoint,
    url: URL,
    { headers, body, configured }: PreparedRequest,
    exchange: Exchange,
    signal: AbortSignal,
  ): Promise<TokenEndpointResponse> {
    const { clientId, secret, tokenEndpoint, issuer, authentication } = exchange.client
    const request = { clientId, tokenEndpoint, issuer, body, headers, signal }
    await whileWaiting(
      signal,
      () => 'The client authentication',
      Promise.resolve(authentication.authenticate(request)),
    )
    exchange.usesHeader = headers.has('authorization')
    const sent = [...headers, ...body, ...url.searchParams]
    exchange.secrets = [...exchange.secrets, ...formsOf(secret), ...sentSecrets(sent, configured)]
    const init = { method: 'POST', headers: Object.fromEntries(headers), body: body.toString(), signal }
    const { fetch } = this.#options
    const response = await sendTokenRequest(fetch, url, init, endpoint, clientId, exchange.secrets)
    exchange.responded = { request, response }
    return response
  }

  /** RFC 7009, section 2.1. */
  async revokeToken(token: string, { signal, label }: TokenRequestContext): Promise<void> {
    const client = await this.#client(true, signal)
    const url = this.#revocationEndpoint(client)
    const exchange = this.#exchange(client, url, label)
    exchange.secrets = [token]
    const { headers } = startTokenRequest(this.#options, false)
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
    const configured = new Set([...headers.keys(), ...body.keys()])
    try {
      const response = await this.#post(
        'revocation endpoint',
        url,
        { headers, body, configured },
        exchange,
        signal,
      )
      // The body takes no part in it.
      if (response.status < 200 || response.status >= 300) this.#read(response, exchange)
    } catch (cause) {
      throw this.#explain(cause, exchange)
    }
  }

  #revocationEndpoint({ authUrl, tokenEndpoint, server, authentication }: ResolvedClient): URL {
    const { revocationEndpoint = server?.revocationEndpoint(authentication.usesCertificate === true) } =
      this.#options
    if (revocationEndpoint !== undefined) return new URL(revocationEndpoint)
    if (authUrl === undefined) {
      const fix = server ? 'Set it, because the issuer names none.' : 'Set it beside tokenEndpoint.'
      throw configurationError(`revocationEndpoint is missing. ${fix}`)
    }
    // The platform's is beside its token endpoint.
    const url = new URL(withoutQuery(tokenEndpoint))
    url.pathname = url.pathname.replace(platformPath, platformRevocationPath)
    return url
  }

  #read({ status, headers, body }: TokenEndpointResponse, exchange: Exchange): TokenResponse {
    const { identity, secrets, parameters, usesHeader } = exchange
    const { raw: _raw, ...received } = parseTokenResponse(status, headers, body, {
      ...identity,
      usesHeader,
      secrets,
      tokenTypes: this.#options.tokenTypes,
    })
    const { tokenType = 'Bearer' } = this.binding ?? {}
    if (received.tokenType !== tokenType) throw unexpectedType(received, tokenType, identity)
    const { expiresIn } = received
    const isInMilliseconds = this.#options.expiresInUnit === 'milliseconds' && expiresIn !== undefined
    const response = isInMilliseconds ? { ...received, expiresIn: expiresIn / 1000 } : received
    return this.#grant?.readResponse?.(response, parameters) ?? response
  }

  /** What the caller of a failed request gets. */
  #explain(cause: unknown, { client, identity, secrets, responded }: Exchange): Error {
    const failure = failureOf(
      cause,
      (code) =>
        new TokenError({
          ...identity,
          kind: 'unavailable',
          message: `The client authentication of "${identity.client}" failed (${code}).`,
        }),
    )
    if (!isTokenError(failure)) return failure
    const error = redactEchoedSecrets(failure, secrets)
    const { message } = error
    if (responded) client.authentication.explain?.(error, responded.response.headers, responded.request)
    if (client.mayRequireBasic && error.kind === 'credentials' && error.message === message) {
      error.message +=
        " The issuer accepts HTTP Basic as well: if the client is registered for it, set clientAuthentication: 'client_secret_basic'."
    }
    if (client.authUrl && (error.status === 404 || error.status === 405)) {
      error.message +=
        ' If authUrl is the whole URL of a token endpoint, set tokenEndpoint instead; if it is an issuer, set issuer.'
    }
    if (client.authUrl && error.status === 401 && error.kind === 'configuration') {
      error.message += ' authUrl may be that of the API.'
    }
    return error
  }

  async credentialsChanged(): Promise<boolean> {
    if (this.#rejected === undefined) return false
    const { client: rejectedClient, parameters: rejected } = this.#rejected
    const client = await this.#client(true)
    if (rejectedClient !== undefined && (await this.#revision(client)) !== rejectedClient) return true
    if (this.#grant === undefined || rejected === undefined) return false
    const { tokenEndpoint, issuer } = client
    const { signal } = new AbortController()
    const parameters = await this.#grant.parameters({ tokenEndpoint, issuer, signal })
    return JSON.stringify(parameters) !== rejected
  }

  /** Changes with a secret, key or file that can change; a change ends the cooldown after a rejection. */
  async #revision({ clientId, authentication }: ResolvedClient): Promise<string | undefined> {
    const { clientId: id, clientSecret, clientAuthentication } = this.#options
    const canChange = [id, clientSecret, clientAuthentication].some(
      (option) => typeof option === 'function' || typeof option === 'object',
    )
    if (!canChange) return undefined
    return `${clientId} ${await (authentication.revision?.() ?? authentication.fingerprint())}`
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

/** A token that is bound to a key is useless without the key; a bearer token lacks the requested protection. */
function unexpectedType(
  { tokenType }: TokenResponse,
  expected: TokenResponse['tokenType'],
  identity: Identity,
): TokenError {
  const advice =
    expected === 'DPoP' ? 'Omit binding if the endpoint does not support DPoP.' : 'Set binding: dpop().'
  const message = `The token endpoint ${identity.tokenEndpoint} issued a ${tokenType} token instead of a ${expected} token. ${advice}`
  return new TokenError({ ...identity, kind: 'malformed', message })
}

/** A secret this long is recognised inside a code as well; a shorter one, such as `client`, occurs in codes by chance. */
const shortestInside = 12

/**
 * Some endpoints repeat what they received. A code that repeats a secret is dropped, in every form in which
 * the secret was sent.
 */
function redactEchoedSecrets(error: TokenError, secrets: readonly string[]): TokenError {
  const { oauthError = '', vendorCode = '', cause } = error
  const repeats = (code: string): boolean =>
    secrets.some((secret) => code === secret || (secret.length >= shortestInside && code.includes(secret)))
  const { code } = Object(cause) as { code?: unknown }
  if (typeof code === 'string' && repeats(code)) {
    return new TokenError(Object.assign({}, error, { message: 'Could not reach the token endpoint.' }))
  }
  const changes: { -readonly [Fact in keyof TokenFailure]?: TokenFailure[Fact] } = {}
  if (repeats(oauthError) || repeats(vendorCode)) {
    changes.message = `The token endpoint repeated the client's credentials in its response (${error.status}). Report this to its operators.`
    changes.oauthError = changes.vendorCode = changes.reason = undefined
  }
  return changeTokenError(error, changes)
}

/** Values that are no secrets, by the name of their header or parameter. */
const publicNames = new Set([
  'accept',
  'content-type',
  'user-agent',
  'scope',
  'audience',
  'resource',
  'grant_type',
  'client_id',
  'client_assertion_type',
  'token_type_hint',
])
/** A configured value is treated as a secret from this length on: shorter ones occur in texts by chance. */
const shortestSecret = 8

/** What must not be shown, in every form in which it was sent: what a grant or the authentication added, and configured values. */
function sentSecrets(
  sent: readonly (readonly [name: string, value: string])[],
  configured: ReadonlySet<string>,
): string[] {
  return sent
    .filter(([name, value]) => {
      if (publicNames.has(name) || value.startsWith('urn:')) return false
      return value.length >= shortestSecret || !configured.has(name)
    })
    .flatMap(([, value]) => formsOf(value))
}

/** As it is, without the word before it in a header, as in a form, and as in JSON. */
function formsOf(secret: string): string[] {
  const withoutScheme = secret.replace(/^\S+ (?=\S+$)/, '')
  const inJson = JSON.stringify(secret).slice(1, -1)
  return [...new Set([secret, withoutScheme, formEncode(secret), inJson])].filter(Boolean)
}
