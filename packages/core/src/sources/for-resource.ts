import { scopes } from '../protocol/build-token-request.ts'
import { challengeWith } from '../protocol/challenges.ts'
import { quote } from '../protocol/error-response.ts'
import { covers, secureUrl } from '../protocol/secure-url.ts'
import { configurationError, TokenError } from '../protocol/token-error.ts'
import type { TokenBinding } from '../protocol/token-binding.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import { errorCode } from '../runtime/error-code.ts'
import { Redacted } from '../runtime/redacted.ts'
import { waitFor, whileWaiting } from '../runtime/wait.ts'
import type { TokenEndpointOptions } from './client.ts'
import { GrantSource, type Grant } from './grant-source.ts'
import { fetchToken, sendTokenRequest, withoutQuery } from './send.ts'
import type {
  ApiChallenge,
  FirstRequest,
  TokenRequestContext,
  TokenSource,
} from '../protocol/token-source.ts'

/** An API that names its authorization server itself (RFC 9728), and which of them get credentials. */
export interface ProtectedResourceOptions {
  /**
   * URL of the API, such as that of an MCP server. It is sent as `resource` (RFC 8707), and the tokens go only to this URL and
   * to what is below it.
   */
  readonly protectedResource: string | URL
  /**
   * The only issuers that get credentials: exact strings, or a function that decides about each. Called with the
   * issuers that the API names, before any request to them.
   */
  readonly trustedIssuers: readonly string[] | ((issuer: string) => boolean)
  /** The most that is ever requested; of it, what the API requires. @default whatever the API requires */
  readonly scope?: string | readonly string[] | undefined
  /**
   * How the API is asked for its challenge if no request of the application waits for the token, as with `getToken()`. `POST`
   * sends `{}` as JSON, for servers that respond to nothing else; choose it only if that causes nothing.
   * @default 'GET'
   */
  readonly probeMethod?: 'GET' | 'HEAD' | 'POST' | undefined
}

/** What sources for a protected resource do not take: the API names the server. */
export type ServerOption = 'authUrl' | 'tokenEndpoint' | 'issuer' | 'resource'

/** The options of a source for a protected resource. */
export type ResourceSourceOptions = Omit<TokenEndpointOptions, ServerOption | 'scope'> &
  ProtectedResourceOptions

/** What an API has said with a challenge (RFC 9728, section 5.1; RFC 6750, section 3). */
interface Learned {
  /** Where its metadata is. */
  readonly address?: URL | undefined
  /** The scopes that it requires. */
  readonly scope?: readonly string[] | undefined
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

/** How long an API may take to respond to a request without a token: then, the well-known addresses are tried. */
const challengeTimeoutMs = 3_000

/**
 * Requests tokens from the authorization server that an API names. Where its metadata is, and which scopes it requires, its
 * challenge says: that of the first request of the application, which is sent without a token, or of a probe. Without a
 * challenge, the metadata is at the well-known address of the API or of its origin.
 */
export class ResourceSource extends Redacted implements TokenSource {
  readonly resource: string
  readonly #options: ResourceSourceOptions
  /** Undefined for client credentials. */
  readonly #grant: Grant | undefined
  /** What the API required of an earlier token. */
  readonly #required: readonly string[]
  #learned: Learned
  /** The challenge to a request without a token; undefined until one has been sent. */
  #asked: Promise<string | undefined> | undefined
  /** Whether a request of the application may be sent without a token: one of each source. */
  #maySendFirst: boolean
  #metadata: ResourceMetadata | undefined
  #source: { readonly of: string; readonly source: GrantSource } | undefined
  /** The last token, and where it came from: the API may name another issuer since. */
  #issued: { readonly token: string; readonly source: GrantSource } | undefined

  constructor(
    options: ResourceSourceOptions,
    grant?: Grant,
    required: readonly string[] = [],
    learned: Learned = {},
  ) {
    super()
    const { protectedResource, trustedIssuers, probeMethod = 'GET', allowInsecureRequests } = options
    secureUrl('protectedResource', protectedResource, allowInsecureRequests)
    if (typeof trustedIssuers !== 'function' && !Array.isArray(trustedIssuers)) {
      throw configurationError('trustedIssuers must be a list of issuers or a function.')
    }
    if (!['GET', 'HEAD', 'POST'].includes(probeMethod)) {
      throw configurationError("probeMethod must be 'GET', 'HEAD' or 'POST'.")
    }
    this.resource = String(protectedResource)
    this.#options = options
    this.#grant = grant
    this.#required = required
    this.#learned = learned
    this.#maySendFirst = required.length === 0
    // Checks the other options.
    this.#sourceAt({ tokenEndpoint: this.resource }, undefined)
  }

  get label(): string | undefined {
    const { clientId } = this.#options
    return typeof clientId === 'string' ? clientId : this.#grant?.key[0]
  }

  get binding(): TokenBinding | undefined {
    return this.#options.binding
  }

  async cacheKey(): Promise<string> {
    const { scope, trustedIssuers } = this.#options
    const trusted = typeof trustedIssuers === 'function' ? [] : [...trustedIssuers].sort()
    // No header has these names, so no other source has the key.
    const headers = { ' trusted': JSON.stringify(trusted), ' required': this.#required.join(' ') }
    const key = await this.#sourceAt({ tokenEndpoint: this.resource }, scope).cacheKey()
    return `resource ${JSON.stringify(headers)} ${key}`
  }

  async requestToken(context: TokenRequestContext): Promise<TokenResponse> {
    const { issuer, scope } = await this.#findMetadata(context)
    const limit = scopes(this.#options.scope)
    const needed = [...new Set([...scope, ...this.#required])]
    if (limit.length === 0 && isTooLong(needed)) {
      const reason = `it requires ${needed.length} scopes, more than ${maxScopes} or 8 KiB. Set scope`
      throw this.#failure('configuration', reason)
    }
    const allowed = limit.length > 0 ? needed.filter((one) => limit.includes(one)) : needed
    const requested = allowed.length > 0 ? allowed : limit
    const of = JSON.stringify([issuer, requested])
    if (this.#source?.of !== of) this.#source = { of, source: this.#sourceAt({ issuer }, requested) }
    const { source } = this.#source
    const response = await source.requestToken(context)
    this.#issued = { token: response.accessToken, source }
    return response
  }

  async credentialsChanged(): Promise<boolean> {
    return (await this.#source?.source.credentialsChanged()) ?? false
  }

  async revokeToken(token: string, context: TokenRequestContext): Promise<void> {
    const source =
      this.#issued?.token === token
        ? this.#issued.source
        : this.#sourceAt({ issuer: (await this.#findMetadata(context)).issuer }, undefined)
    await source.revokeToken(token, context)
  }

  stepUp(required: readonly string[]): TokenSource | undefined {
    const limit = scopes(this.#options.scope)
    if (limit.length > 0 && !required.every((one) => limit.includes(one))) return undefined
    if (required.every((one) => this.#required.includes(one))) return this
    const all = [...new Set([...this.#required, ...required])].sort()
    return isTooLong(all) ? undefined : new ResourceSource(this.#options, this.#grant, all, this.#learned)
  }

  #sourceAt(
    server: Pick<TokenEndpointOptions, 'issuer' | 'tokenEndpoint'>,
    scope: TokenEndpointOptions['scope'],
  ): GrantSource {
    const { protectedResource: _1, trustedIssuers: _2, probeMethod: _3, ...rest } = this.#options
    const { authUrl, tokenEndpoint, issuer, resource } = rest as TokenEndpointOptions
    if (authUrl ?? tokenEndpoint ?? issuer ?? false) {
      throw configurationError('protectedResource, issuer, tokenEndpoint and authUrl are mutually exclusive.')
    }
    if (resource !== undefined && String(resource) !== this.resource) {
      throw configurationError('resource must be protectedResource, which is its default.')
    }
    return new GrantSource({ ...rest, ...server, resource: this.resource, scope }, this.#grant)
  }

  /** Requested anew for each token, because the API decides. While it is unavailable, its last metadata applies. */
  async #findMetadata({ challenge, signal }: TokenRequestContext): Promise<ResourceMetadata> {
    try {
      await this.#learn(challenge, signal)
      return (this.#metadata = await this.#requestMetadata(signal))
    } catch (error) {
      const isUnavailable = error instanceof TokenError && error.kind === 'unavailable'
      if (this.#metadata && isUnavailable) return this.#metadata
      // Its metadata may have moved.
      if (error instanceof TokenError && !isUnavailable) {
        this.#learned = {}
        this.#asked = undefined
      }
      throw error
    }
  }

  sendFirst<Result>(request: FirstRequest<Result>): Promise<Result | undefined> | undefined {
    if (!this.#maySendFirst || !this.#isOurs(request.url)) return undefined
    this.#maySendFirst = false
    const sent = request.send()
    this.#asked = sent.then(
      ({ challenge }) => challenge,
      () => undefined,
    )
    return sent.then(({ challenge, result }) => (challenge === undefined ? result : undefined))
  }

  #isOurs(url: string): boolean {
    return URL.canParse(url) && covers(new URL(this.resource), new URL(url))
  }

  /** Reads what the API says: to a request that it rejected, or else, if nothing is known yet, to one without a token. */
  async #learn(challenge: ApiChallenge | undefined, signal: AbortSignal): Promise<void> {
    this.#maySendFirst = false
    if (challenge && this.#isOurs(challenge.url)) return this.#read(challenge.header)
    if (this.#learned.address || this.#learned.scope) return
    // The application may wait longer for its own response.
    const asked = this.#asked
      ? waitFor(this.#asked, challengeTimeoutMs, signal, () => undefined)
      : this.#probe(signal)
    const header = await whileWaiting(signal, () => `The API ${withoutQuery(this.resource)}`, asked)
    signal.throwIfAborted()
    this.#asked ??= Promise.resolve(header)
    if (header) this.#read(header)
  }

  /** The challenge of a request of our own. */
  async #probe(signal: AbortSignal): Promise<string | undefined> {
    const { fetch, probeMethod: method = 'GET' } = this.#options
    const headers = { accept: 'application/json, text/event-stream' }
    const init =
      method === 'POST'
        ? { method, headers: { ...headers, 'content-type': 'application/json' }, body: '{}', signal }
        : { method, headers, signal }
    const response = await fetchToken(fetch, this.resource, init).catch(() => undefined)
    response?.body?.cancel().catch(() => {})
    return response?.status === 401 ? (response.headers.get('www-authenticate') ?? undefined) : undefined
  }

  #read(header: string): void {
    const parameter = (name: string): string | undefined => challengeWith(header, name)?.parameters.get(name)
    const [scope, given] = [parameter('scope'), parameter('resource_metadata')]
    if (given === undefined && scope === undefined) return
    const { allowInsecureRequests } = this.#options
    const address =
      given === undefined ? undefined : secureUrl('resource_metadata', given, allowInsecureRequests)
    if (address && address.origin !== new URL(this.resource).origin) {
      throw this.#failure('configuration', `its metadata is at another origin, ${address.origin}`)
    }
    this.#learned = {
      address: address ?? this.#learned.address,
      scope: scope === undefined ? this.#learned.scope : scopes(scope),
    }
  }

  /** From where the challenge said; otherwise from the well-known address of the path, then of the origin. */
  async #requestMetadata(signal: AbortSignal): Promise<ResourceMetadata> {
    const { fetch } = this.#options
    const { address, scope } = this.#learned
    const failures: string[] = []
    for (const url of address ? [address] : wellKnownAddresses(this.resource)) {
      const init = { headers: { accept: 'application/json' }, signal }
      const { status, body } = await sendTokenRequest(fetch, url, init, 'metadata')
      if (status === 200) return this.#readMetadata(url, body, scope)
      failures.push(`${url} responded with status ${status}`)
      if (status >= 500 || status === 429) throw this.#failure('unavailable', failures.join('; '))
    }
    throw this.#failure('configuration', failures.join('; '))
  }

  #readMetadata(url: URL, body: string, scope: readonly string[] | undefined): ResourceMetadata {
    const metadata = readObject(body)
    if (metadata === undefined) throw this.#failure('malformed', `${url} is not JSON`)
    const { resource, authorization_servers: servers, scopes_supported: supported } = metadata
    // RFC 9728, section 3.3: otherwise one API could pose as another.
    if (!this.#isCovered(resource, url)) {
      throw this.#failure('configuration', `its metadata has the resource ${quote(resource)}`)
    }
    const issuer = this.#trusted(Array.isArray(servers) ? servers : [])
    return { issuer, scope: scope ?? strings(supported) }
  }

  /**
   * Whether the `resource` of metadata is this API, or one that it is a part of. At the well-known address of the API itself, it
   * is the API.
   */
  #isCovered(named: unknown, { href }: URL): boolean {
    if (typeof named !== 'string' || !URL.canParse(named)) return false
    const [ours, theirs] = [new URL(this.resource), new URL(named)]
    if (ours.href === theirs.href) return true
    const [ofPath, ...ofOrigin] = wellKnownAddresses(this.resource)
    return (ofOrigin.length === 0 || href !== ofPath!.href) && covers(theirs, ours)
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
      throw this.#failure('unavailable', `the trustedIssuers function failed (${errorCode(error)})`)
    }
    if (issuer !== undefined) return issuer
    const reason =
      named.length > 0
        ? `trustedIssuers contains none of its issuers, ${named.slice(0, 5).map(quote).join(', ')}`
        : 'its metadata has no authorization_servers'
    throw this.#failure('configuration', reason)
  }

  #failure(kind: TokenError['kind'], reason: string): TokenError {
    return new TokenError({ kind, message: `Could not find the issuer of ${this.resource}: ${reason}.` })
  }

  toJSON(): object {
    const { clientId } = this.#options
    const shown = typeof clientId === 'function' ? '[function]' : clientId
    return { protectedResource: this.resource, clientId: shown }
  }
}

/** RFC 9728, section 3.1: of the path, then of the origin. */
function wellKnownAddresses(resource: string): URL[] {
  const { origin, pathname, search } = new URL(resource)
  const root = new URL('/.well-known/oauth-protected-resource', origin)
  const path = pathname.replace(/\/$/, '')
  if (path === '' && search === '') return [root]
  const ofPath = new URL(root)
  ofPath.pathname += path
  ofPath.search = search
  return [ofPath, root]
}

function isTooLong(list: readonly string[]): boolean {
  return list.length > maxScopes || list.join(' ').length > maxScopeLength
}

function readObject(body: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(body)) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
