import { challengeWith } from '../protocol/challenges.ts'
import { scopes } from '../protocol/build-token-request.ts'
import { configurationError, TokenError } from '../protocol/token-error.ts'
import { secureUrl } from '../protocol/secure-url.ts'
import type { TokenBinding } from '../protocol/token-binding.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import { errorCode } from '../runtime/error-code.ts'
import { Redacted } from '../runtime/redacted.ts'
import type { TokenRequestContext, TokenSource } from './token-source.ts'
import { clientCredentials, type ClientCredentialsOptions } from './grants.ts'
import { fetchToken, sendTokenRequest } from './send.ts'

/** How an application gets tokens for an API that names its authorization server itself. */
export interface ResourceClientCredentialsOptions extends Omit<
  ClientCredentialsOptions,
  'authUrl' | 'tokenEndpoint' | 'issuer' | 'resource'
> {
  /** URL of the API, such as that of an MCP server, exactly as in its metadata; also sent as `resource` (RFC 8707). */
  readonly protectedResource: string | URL
  /**
   * The only issuers that get credentials: exact strings, or a function that decides about each. Called with the
   * issuers that the API names, before any request to them.
   */
  readonly trustedIssuers: readonly string[] | ((issuer: string) => boolean)
  /** The most that is ever requested; of it, what the API requires. @default whatever the API requires */
  readonly scope?: string | readonly string[] | undefined
}

/** The most that an API may require: its list goes into every token request. */
const maxScopes = 200
const maxScopeLength = 8 * 1024

/** What the API's metadata say. */
interface ResourceMetadata {
  readonly issuer: string
  /** The scopes that the API requires; empty if it names none. */
  readonly scope: readonly string[]
}

/**
 * Requests tokens with the client credentials grant from the authorization server that an API names in its metadata
 * (RFC 9728), as MCP servers do. The metadata is found by the challenge of a request without a token or, failing that, at
 * the well-known address of the API's own origin. If the API responds with 403 `insufficient_scope`, a token with the
 * required scopes is requested, within `scope`.
 *
 * @example
 * const tokens = createTokenProvider(
 *   clientCredentialsForResource({
 *     protectedResource: 'https://mcp.example.com/mcp',
 *     trustedIssuers: ['https://auth.example.com'],
 *     clientId,
 *     clientSecret,
 *   }),
 * )
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function clientCredentialsForResource(options: ResourceClientCredentialsOptions): TokenSource {
  return new ResourceClientCredentials({ ...options }, [])
}

class ResourceClientCredentials extends Redacted implements TokenSource {
  readonly #options: ResourceClientCredentialsOptions
  /** What the API required of an earlier token. */
  readonly #required: readonly string[]
  readonly #resource: string
  #metadata: ResourceMetadata | undefined
  #source: { readonly of: string; readonly source: TokenSource } | undefined
  /** The last token, and where it came from: the API may name another issuer since. */
  #issued: { readonly token: string; readonly source: TokenSource } | undefined

  constructor(options: ResourceClientCredentialsOptions, required: readonly string[]) {
    super()
    const { protectedResource, trustedIssuers, allowInsecureRequests } = options
    secureUrl('protectedResource', protectedResource, allowInsecureRequests)
    if (typeof trustedIssuers !== 'function' && !Array.isArray(trustedIssuers)) {
      throw configurationError('trustedIssuers must be a list of issuers or a function.')
    }
    this.#options = options
    this.#required = required
    this.#resource = String(protectedResource)
    // Checks the other options.
    this.#sourceAt({ tokenEndpoint: this.#resource }, undefined)
  }

  get label(): string | undefined {
    const { clientId } = this.#options
    return typeof clientId === 'string' ? clientId : undefined
  }

  get binding(): TokenBinding | undefined {
    return this.#options.binding
  }

  async cacheKey(): Promise<string> {
    const { scope, trustedIssuers } = this.#options
    const trusted = typeof trustedIssuers === 'function' ? [] : [...trustedIssuers].sort()
    // No header has these names, so no other source has the key.
    const headers = { ' trusted': JSON.stringify(trusted), ' required': this.#required.join(' ') }
    const key = await this.#sourceAt({ tokenEndpoint: this.#resource }, scope).cacheKey()
    return `resource ${JSON.stringify(headers)} ${key}`
  }

  async requestToken(context: TokenRequestContext): Promise<TokenResponse> {
    const { issuer, scope } = await this.#findMetadata(context.signal)
    const limit = scopes(this.#options.scope)
    const needed = [...new Set([...scope, ...this.#required])]
    if (limit.length === 0 && isTooLong(needed)) {
      const reason = `it requires ${needed.length} scopes, more than ${maxScopes} or 8 KiB. Set scope`
      throw failure('configuration', reason, this.#resource)
    }
    const allowed = limit.length > 0 ? needed.filter((one) => limit.includes(one)) : needed
    const requested = allowed.length > 0 ? allowed : limit
    const of = JSON.stringify([issuer, requested])
    if (this.#source?.of !== of) {
      this.#source = { of, source: this.#sourceAt({ issuer }, requested) }
    }
    const { source } = this.#source
    const response = await source.requestToken(context)
    this.#issued = { token: response.accessToken, source }
    return response
  }

  async credentialsChanged(): Promise<boolean> {
    return (await this.#source?.source.credentialsChanged?.()) ?? false
  }

  async revokeToken(token: string, context: TokenRequestContext): Promise<void> {
    const source =
      this.#issued?.token === token
        ? this.#issued.source
        : this.#sourceAt({ issuer: (await this.#findMetadata(context.signal)).issuer }, undefined)
    await source.revokeToken?.(token, context)
  }

  widen(required: readonly string[]): TokenSource | undefined {
    const limit = scopes(this.#options.scope)
    if (limit.length > 0 && !required.every((one) => limit.includes(one))) return undefined
    if (required.every((one) => this.#required.includes(one))) return this
    const all = [...new Set([...this.#required, ...required])].sort()
    return isTooLong(all) ? undefined : new ResourceClientCredentials(this.#options, all)
  }

  #sourceAt(
    server: Pick<ClientCredentialsOptions, 'issuer' | 'tokenEndpoint'>,
    scope: ClientCredentialsOptions['scope'],
  ): TokenSource {
    const { protectedResource: _1, trustedIssuers: _2, ...rest } = this.#options
    const { authUrl, tokenEndpoint, issuer, resource } = rest as Partial<ClientCredentialsOptions>
    if (authUrl ?? tokenEndpoint ?? issuer ?? false) {
      throw configurationError('protectedResource, issuer, tokenEndpoint and authUrl are mutually exclusive.')
    }
    if (resource !== undefined && String(resource) !== this.#resource) {
      throw configurationError('resource must be protectedResource, which is its default.')
    }
    return clientCredentials({ ...rest, ...server, resource: this.#resource, scope })
  }

  /** Requested anew for each token, because the API decides. While it is unavailable, its last metadata applies. */
  async #findMetadata(signal: AbortSignal): Promise<ResourceMetadata> {
    try {
      return (this.#metadata = await this.#requestMetadata(signal))
    } catch (error) {
      const isUnavailable = error instanceof TokenError && error.kind === 'unavailable'
      if (this.#metadata && isUnavailable) return this.#metadata
      throw error
    }
  }

  async #requestMetadata(signal: AbortSignal): Promise<ResourceMetadata> {
    const { fetch } = this.#options
    const { address, scope } = await this.#challenge(signal)
    const init = { headers: { accept: 'application/json' }, signal }
    const { status, body } = await sendTokenRequest(fetch, address, init)
    if (status !== 200) {
      const kind = status >= 500 || status === 429 ? 'unavailable' : 'configuration'
      throw failure(kind, `${address} responded with status ${status}`, this.#resource)
    }
    const metadata = readObject(body)
    if (metadata === undefined) throw failure('malformed', `${address} is not JSON`, this.#resource)
    const { resource, authorization_servers: servers, scopes_supported: supported } = metadata
    // RFC 9728, section 3.3: otherwise one API could pose as another.
    if (!isSameUrl(resource, this.#resource)) {
      const named = JSON.stringify(resource)?.slice(0, 200) ?? 'no value'
      throw failure('configuration', `its metadata has the resource ${named}`, this.#resource)
    }
    const issuer = this.#trusted(Array.isArray(servers) ? servers : [])
    return { issuer, scope: scope ?? strings(supported) }
  }

  /** Where the metadata is, and the scopes that the API requires, by its response to a request without a token. */
  async #challenge(signal: AbortSignal): Promise<{ address: URL; scope?: readonly string[] }> {
    const { fetch, allowInsecureRequests } = this.#options
    const resource = new URL(this.#resource)
    const wellKnown = new URL(resource.origin)
    wellKnown.pathname = `/.well-known/oauth-protected-resource${resource.pathname.replace(/\/$/, '')}`
    wellKnown.search = resource.search
    const init = { headers: { accept: 'application/json, text/event-stream' }, signal }
    const response = await fetchToken(fetch, this.#resource, init).catch(() => undefined)
    signal.throwIfAborted()
    response?.body?.cancel().catch(() => {})
    const header = response?.status === 401 ? (response.headers.get('www-authenticate') ?? '') : ''
    const scope = challengeWith(header, 'scope')?.parameters.get('scope')
    const given = challengeWith(header, 'resource_metadata')?.parameters.get('resource_metadata')
    const found = scope === undefined ? {} : { scope: scopes(scope) }
    if (given === undefined) return { address: wellKnown, ...found }
    const address = secureUrl('resource_metadata', given, allowInsecureRequests)
    if (address.origin !== resource.origin) {
      throw failure('configuration', `its metadata is at another origin, ${address.origin}`, this.#resource)
    }
    return { address, ...found }
  }

  /** The first issuer that the application trusts. */
  #trusted(servers: readonly unknown[]): string {
    const { trustedIssuers } = this.#options
    const named = servers.filter((server) => typeof server === 'string')
    let issuer: string | undefined
    try {
      issuer = named.find((server) =>
        typeof trustedIssuers === 'function'
          ? // oxlint-disable-next-line typescript/no-unnecessary-boolean-literal-compare -- a promise is truthy
            trustedIssuers(server) === true
          : trustedIssuers.includes(server),
      )
    } catch (error) {
      throw failure('unavailable', `the trustedIssuers function failed (${errorCode(error)})`, this.#resource)
    }
    if (issuer !== undefined) return issuer
    const reason =
      named.length > 0
        ? `trustedIssuers contains none of its issuers, ${JSON.stringify(named).slice(1, 200)}`
        : 'its metadata has no authorization_servers'
    throw failure('configuration', reason, this.#resource)
  }

  toJSON(): object {
    const { clientId } = this.#options
    const shown = typeof clientId === 'function' ? '[function]' : clientId
    return { protectedResource: this.#resource, clientId: shown }
  }
}

function isTooLong(list: readonly string[]): boolean {
  return list.length > maxScopes || list.join(' ').length > maxScopeLength
}

function failure(kind: TokenError['kind'], reason: string, resource: string): TokenError {
  return new TokenError({ kind, message: `Could not find the issuer of ${resource}: ${reason}.` })
}

function readObject(body: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(body)) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function isSameUrl(value: unknown, url: string): boolean {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).href === new URL(url).href
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
