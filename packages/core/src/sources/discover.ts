import { configurationError } from '../protocol/configuration-error.ts'
import { secureUrl } from '../protocol/secure-url.ts'
import type { Discovery, DiscoveredServer } from './discovered-server.ts'
import { createIssuerDiscovery } from './issuer-discovery.ts'

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
  return { issuer, ...createIssuerDiscovery(readMetadata, { maxAgeMs }) }
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
