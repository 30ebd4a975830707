import { quote } from '../protocol/error-response.ts'
import { configurationError, failureOf, isTokenError, TokenError } from '../protocol/token-error.ts'
import { metadataUrl, secureUrl } from '../protocol/secure-url.ts'
import { abortQuietly, waitFor, whileWaiting } from '../runtime/wait.ts'
import type { Clock } from '../runtime/clock.ts'
import { refreshed } from '../runtime/refreshed.ts'
import { sendTokenRequest, type FetchLike } from './send.ts'

/** Reads what a client of an issuer needs from its metadata; returns a reason, such as `has no jwks_uri`, if it is missing. */
export type MetadataReader<Found extends object> = (
  metadata: Readonly<Record<string, unknown>>,
  issuer: string,
  allowInsecureRequests: boolean,
) => Found | string

export interface IssuerDiscoveryOptions {
  readonly fetch?: FetchLike | undefined
  readonly allowInsecureRequests?: boolean | undefined
  /** How long metadata is cached. @default 3_600_000 */
  readonly maxAgeMs?: number | undefined
  /** How long each of the URLs, at most three, may take to respond. @default 3_000 */
  readonly timeoutMs?: number | undefined
  /** @default the system clocks */
  readonly clock?: Clock | undefined
}

/** The metadata of an issuer. */
export interface IssuerDiscovery<Found extends object> {
  /** From the cache, or by one request for all callers. @throws {TokenError} that names the URLs that were tried */
  find(): Promise<Found>
  /** Requests the metadata again with the next call; what is known is kept for the case that it is unavailable. */
  expire(): void
  /** The URL that was requested last, for the error of a caller that stops waiting. */
  readonly requestedUrl: string | undefined
}

/**
 * Finds the metadata of an issuer (RFC 8414) or, failing that, by OpenID Connect Discovery.
 *
 * @param read called for metadata whose `issuer` is exactly the one asked for
 */
export function createIssuerDiscovery<Found extends object>(
  issuer: string,
  read: MetadataReader<Found>,
  {
    fetch,
    allowInsecureRequests = false,
    maxAgeMs = 3_600_000,
    timeoutMs = 3_000,
    clock,
  }: IssuerDiscoveryOptions = {},
): IssuerDiscovery<Found> {
  let requestedUrl: string | undefined
  const onRequest = (url: string): void => void (requestedUrl = url)
  const metadata = refreshed(
    () => fetchMetadata(issuer, read, { fetch, allowInsecureRequests, timeoutMs, onRequest }),
    {
      maxAgeMs,
      keepMs: 3_600_000,
      pauseMs: 0,
      // As long as all of its URLs may take.
      timeoutMs: 3 * timeoutMs,
      // The endpoints may be available while the metadata is not. An issuer that responds without metadata has moved.
      keepsAfter: (error) => isTokenError(error) && error.kind === 'unavailable',
      // Each caller has its own deadline, and what was dropped is requested again.
      shares: true,
      clock,
    },
  )
  return {
    find: () => metadata.get(),
    expire: () => metadata.expire(),
    get requestedUrl() {
      return requestedUrl
    },
  }
}

/**
 * RFC 8414, section 3.1, and its variant for OpenID Connect (section 5); last, OpenID Connect Discovery 1.0,
 * section 4.
 */
function metadataUrls(issuer: URL): string[] {
  const path = issuer.pathname.replace(/\/$/, '')
  const wellKnown = (name: string): string => `${issuer.origin}/.well-known/${name}${path}`
  const urls = [wellKnown('oauth-authorization-server'), wellKnown('openid-configuration')]
  return path ? [...urls, `${issuer.origin}${path}/.well-known/openid-configuration`] : urls
}

async function fetchMetadata<Found extends object>(
  issuer: string,
  read: MetadataReader<Found>,
  {
    fetch,
    allowInsecureRequests,
    timeoutMs,
    onRequest,
  }: {
    fetch: FetchLike | undefined
    allowInsecureRequests: boolean
    timeoutMs: number
    onRequest: (url: string) => void
  },
): Promise<Found> {
  const url = secureUrl('issuer', issuer, allowInsecureRequests)
  if (url.search) throw configurationError('issuer must not contain a query.')
  const failures: string[] = []
  let isUnavailable = false
  for (const metadataUrl of metadataUrls(url)) {
    try {
      onRequest(metadataUrl)
      const controller = new AbortController()
      const init = { headers: { accept: 'application/json' }, signal: controller.signal }
      const { status, body } = await waitFor(
        sendTokenRequest(fetch, metadataUrl, init, 'metadata'),
        timeoutMs,
        undefined,
        () => unavailable(`no response in ${Math.round(timeoutMs) / 1000} s`),
        () => abortQuietly(controller),
        false,
      )
      isUnavailable ||= status >= 500 || status === 429
      const found =
        status === 200
          ? readMetadata(body, issuer, (metadata) => read(metadata, issuer, allowInsecureRequests))
          : `responded with status ${status}`
      if (typeof found === 'object') return found
      failures.push(`${metadataUrl} ${found}`)
    } catch (error) {
      const failure = failureOf(error, unavailable)
      if (!isTokenError(failure)) throw failure
      isUnavailable = true
      const { cause, message } = failure
      failures.push(`${metadataUrl} failed (${cause instanceof Error ? cause.message : message})`)
    }
  }
  throw new TokenError({
    kind: isUnavailable ? 'unavailable' : 'configuration',
    message: `Could not find metadata for the issuer "${issuer}": ${failures.join('; ')}.`,
  })
}

function unavailable(message: string): TokenError {
  return new TokenError({ kind: 'unavailable', message })
}

/** What is read from the metadata of the issuer, or why it cannot be used. */
function readMetadata<Found extends object>(
  body: string,
  issuer: string,
  read: (metadata: Readonly<Record<string, unknown>>) => Found | string,
): Found | string {
  let metadata: Record<string, unknown>
  try {
    metadata = Object(JSON.parse(body)) as Record<string, unknown>
  } catch {
    return 'is not JSON'
  }
  // RFC 8414, section 3.3: otherwise one issuer could pose as another.
  const { issuer: named } = metadata
  if (named !== issuer) return named ? `has the issuer ${quote(named)}` : 'has no issuer'
  return read(metadata)
}

/** The metadata of an authorization server (RFC 8414, section 2). */
export interface DiscoveredServer {
  /** The token endpoint; with a client certificate, its alias if there is one (RFC 8705, section 5). */
  tokenEndpoint(usesCertificate: boolean): URL
  /** The same for the revocation endpoint; undefined if the issuer names none. */
  revocationEndpoint(usesCertificate: boolean): URL | undefined
  /** How a client secret is sent. @throws {TokenError} if the server accepts none */
  secretMethod(): 'client_secret_post' | 'client_secret_basic'
  /** Whether the secret may be sent either way, so that the client's own registration decides. */
  readonly acceptsBoth: boolean
}

const maxIssuers = 1_000
/** By the function that requests the metadata, then by issuer and rule for its URLs: the sources of a pool share it. */
const discoveries = new WeakMap<FetchLike, Map<string, IssuerDiscovery<DiscoveredServer>>>()

/**
 * Finds the token endpoint of an issuer, and how clients authenticate to it: by RFC 8414 or, failing that, OpenID
 * Connect Discovery. Metadata is cached for an hour; all callers share one request.
 *
 * @throws {TokenError} that names the URLs that were tried
 */
export function discover(
  issuer: string,
  fetch: FetchLike | undefined,
  allowInsecureRequests: boolean | undefined,
  signal: AbortSignal | undefined,
): Promise<DiscoveredServer> {
  const send = fetch ?? globalThis.fetch
  const known = discoveries.get(send) ?? new Map<string, IssuerDiscovery<DiscoveredServer>>()
  discoveries.set(send, known)
  const key = `${allowInsecureRequests ?? false} ${issuer}`
  const discovery =
    known.get(key) ?? createIssuerDiscovery(issuer, readServer, { fetch, allowInsecureRequests })
  known.delete(key)
  known.set(key, discovery)
  if (known.size > maxIssuers) known.delete(known.keys().next().value!)
  return whileWaiting(signal, () => `The metadata ${discovery.requestedUrl}`, discovery.find())
}

/** The token endpoint and its client authentication, or why they could not be found. */
function readServer(
  metadata: Readonly<Record<string, unknown>>,
  issuer: string,
  allowInsecureRequests: boolean,
): DiscoveredServer | string {
  const aliases = Object(metadata['mtls_endpoint_aliases']) as Record<string, unknown>
  const read = (url: unknown): URL | undefined => readUrl(url, issuer, allowInsecureRequests)
  const { token_endpoint: tokenUrl, revocation_endpoint: revocationUrl } = metadata
  const tokenEndpoint = read(tokenUrl)
  const mtlsTokenEndpoint = read(aliases['token_endpoint'] ?? tokenUrl)
  const revocationEndpoint = read(revocationUrl)
  const mtlsRevocationEndpoint = read(aliases['revocation_endpoint'] ?? revocationUrl)
  if (!tokenEndpoint || !mtlsTokenEndpoint) return 'has no valid token_endpoint'
  // RFC 8414, section 2: the default.
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata
  const offered = [methods].flat()
  return {
    acceptsBoth: offered.includes('client_secret_post') && offered.includes('client_secret_basic'),
    revocationEndpoint: (usesCertificate) => (usesCertificate ? mtlsRevocationEndpoint : revocationEndpoint),
    tokenEndpoint: (usesCertificate) => (usesCertificate ? mtlsTokenEndpoint : tokenEndpoint),
    secretMethod() {
      if (offered.includes('client_secret_post')) return 'client_secret_post'
      if (offered.includes('client_secret_basic')) return 'client_secret_basic'
      throw configurationError(
        `The issuer "${issuer}" does not accept a client secret, only ${offered.join(', ')}. Set clientAuthentication.`,
      )
    },
  }
}

function readUrl(value: unknown, issuer: string, allowInsecureRequests: boolean): URL | undefined {
  try {
    return metadataUrl('token_endpoint', value, issuer, allowInsecureRequests)
  } catch {
    return undefined
  }
}
