import { configurationError } from '../protocol/token-error.ts'
import { secureUrl } from '../protocol/secure-url.ts'
import { createIssuerDiscovery, type IssuerDiscovery } from './issuer-discovery.ts'
import type { FetchLike } from './send-token-request.ts'

/** The metadata of an authorization server (RFC 8414, section 2). */
export interface DiscoveredServer {
  /** The token endpoint; with a client certificate, its alias if there is one (RFC 8705, section 5). */
  tokenEndpoint(usesCertificate: boolean): URL
  readonly revocationEndpoint: URL | undefined
  /** How a client secret is sent. @throws {TokenError} if the server accepts none */
  secretMethod(): 'client_secret_post' | 'client_secret_basic'
}

const maxIssuers = 1_000
/** By the function that requests the metadata, then by issuer: the sources of a pool share it. */
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
): Promise<DiscoveredServer> {
  const send = fetch ?? globalThis.fetch
  const known = discoveries.get(send) ?? new Map<string, IssuerDiscovery<DiscoveredServer>>()
  discoveries.set(send, known)
  const discovery = known.get(issuer) ?? createIssuerDiscovery(readMetadata)
  known.delete(issuer)
  known.set(issuer, discovery)
  if (known.size > maxIssuers) known.delete(known.keys().next().value!)
  return discovery.find(issuer, fetch, allowInsecureRequests)
}

/** The token endpoint and its client authentication, or why they could not be found. */
function readMetadata(
  metadata: Readonly<Record<string, unknown>>,
  issuer: string,
  allowInsecureRequests: boolean,
): DiscoveredServer | string {
  const { token_endpoint: endpoint, mtls_endpoint_aliases: aliases } = metadata
  const alias = (Object(aliases) as Record<string, unknown>)['token_endpoint']
  const [tokenEndpoint, mtlsTokenUrl] = [endpoint, alias ?? endpoint].map((url) =>
    readUrl(url, allowInsecureRequests),
  )
  if (!tokenEndpoint || !mtlsTokenUrl) return 'has no valid token_endpoint'
  // RFC 8414, section 2: the default.
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata
  return {
    revocationEndpoint: readUrl(metadata['revocation_endpoint'], allowInsecureRequests),
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
