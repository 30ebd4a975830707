import { elapsedSince, readInstant, systemClock, type Instant } from '../runtime/clock.ts'
import { configurationError } from '../protocol/configuration-error.ts'
import { isNextjsSignal } from '../protocol/nextjs-signal.ts'
import { secureUrl } from '../protocol/secure-url.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { Discovery, DiscoveredServer } from './discovered-server.ts'
import { sendTokenRequest, type FetchLike } from './send-token-request.ts'

/** How long a caller waits for metadata. */
const timeoutMs = 10_000

/** How {@link discover} caches metadata. */
export interface DiscoverOptions {
  /** How long metadata is cached, in milliseconds. @default 3_600_000 */
  readonly maxAgeMs?: number | undefined
}

/**
 * Finds the token endpoint of an issuer, and how clients authenticate to it: by RFC 8414 or, failing that, OpenID
 * Connect Discovery. Metadata is requested with the first token; all callers share one request.
 *
 * @param issuer exactly as in the metadata, including any trailing slash; a function is called before each use
 *
 * @example
 * clientCredentials({ issuer: discover('https://login.example.com'), clientId, clientSecret })
 */
export function discover(
  issuer: string | (() => string | Promise<string>),
  { maxAgeMs = 3_600_000 }: DiscoverOptions = {},
): Discovery {
  let last: { readonly server: DiscoveredServer; readonly since: Instant } | undefined
  let pending:
    | { readonly result: Promise<DiscoveredServer>; readonly since: Instant; readonly of: string }
    | undefined

  const isYounger = (since: Instant, ms: number): boolean => elapsedSince(since, systemClock) < ms

  async function find(
    of: string,
    fetch: FetchLike | undefined,
    allowInsecureRequests: boolean,
  ): Promise<DiscoveredServer> {
    const known = last?.server.issuer === of ? last.server : undefined
    try {
      const server = await fetchMetadata(of, fetch, allowInsecureRequests)
      last = { server, since: readInstant(systemClock) }
      return server
    } catch (error) {
      // The metadata may be unavailable while the token endpoint is not.
      if (known && error instanceof TokenError && error.kind === 'unavailable') return known
      throw error
    } finally {
      pending = undefined
    }
  }

  return {
    issuer,
    async find(of, fetch, allowInsecureRequests = false) {
      if (last?.server.issuer === of && isYounger(last.since, maxAgeMs)) return last.server
      // A runtime may have dropped an older one.
      if (pending?.of !== of || !isYounger(pending.since, timeoutMs)) {
        pending = { result: find(of, fetch, allowInsecureRequests), since: readInstant(systemClock), of }
      }
      return pending.result
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

async function fetchMetadata(
  issuer: string,
  fetch: FetchLike | undefined,
  allowInsecureRequests: boolean,
): Promise<DiscoveredServer> {
  const url = secureUrl('issuer', issuer, allowInsecureRequests)
  if (url.search) throw configurationError('issuer must not contain a query.')
  const failures: string[] = []
  let isUnavailable = false
  for (const metadataUrl of metadataUrls(url)) {
    try {
      const init = { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(timeoutMs) }
      const { status, body } = await sendTokenRequest(fetch, metadataUrl, init)
      isUnavailable ||= status >= 500 || status === 429
      const found =
        status === 200 ? readMetadata(body, issuer, allowInsecureRequests) : `responded with status ${status}`
      if (typeof found === 'object') return found
      failures.push(`${metadataUrl} ${found}`)
    } catch (error) {
      if (isNextjsSignal(error)) throw error
      isUnavailable = true
      const { cause, message } = error as Error
      failures.push(`${metadataUrl} failed (${cause instanceof Error ? cause.message : message})`)
    }
  }
  throw new TokenError({
    kind: isUnavailable ? 'unavailable' : 'configuration',
    message: `Could not find metadata for the issuer "${issuer}": ${failures.join('; ')}.`,
  })
}

/** The metadata of the issuer, or why it cannot be used. */
function readMetadata(
  body: string,
  issuer: string,
  allowInsecureRequests: boolean,
): DiscoveredServer | string {
  let metadata: Record<string, unknown>
  try {
    metadata = Object(JSON.parse(body)) as Record<string, unknown>
  } catch {
    return 'is not JSON'
  }
  // RFC 8414, section 3.3: otherwise one issuer could pose as another.
  const { issuer: named } = metadata
  if (named !== issuer)
    return named ? `has the issuer ${JSON.stringify(named).slice(0, 200)}` : 'has no issuer'
  const { token_endpoint: endpoint, mtls_endpoint_aliases: aliases } = metadata
  const alias = (Object(aliases) as Record<string, unknown>)['token_endpoint']
  const [tokenEndpoint, mtlsTokenUrl] = [endpoint, alias ?? endpoint].map((url) =>
    readUrl(url, allowInsecureRequests),
  )
  if (!tokenEndpoint || !mtlsTokenUrl) return 'has no valid token_endpoint'
  // RFC 8414, section 2: the default.
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata
  return {
    issuer,
    tokenEndpoint: (usesCertificate) => (usesCertificate ? mtlsTokenUrl : tokenEndpoint),
    secretMethod() {
      const offered = [methods].flat()
      if (offered.includes('client_secret_post')) return 'client_secret_post'
      if (offered.includes('client_secret_basic')) return 'client_secret_basic'
      throw configurationError(
        `The issuer "${issuer}" does not accept a client secret, only ${offered.join(', ')}. Set clientAuthentication.`,
      )
    },
  }
}

function readUrl(value: unknown, allowInsecureRequests: boolean): URL | undefined {
  try {
    return secureUrl('token_endpoint', String(value), allowInsecureRequests)
  } catch {
    return undefined
  }
}
