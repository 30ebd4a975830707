import { secureUrl } from '@tokenwell/core/protocol'
import type { TokenVerifierOptions } from './token-verifier-options.ts'

/** What an API publishes about itself (RFC 9728, section 2), and where. */
export interface ResourceMetadata {
  readonly url: string
  /** The path of `url`, which a server that is not behind a proxy responds to. */
  readonly path: string
  readonly document: Readonly<Record<string, unknown>>
}

/** Undefined without the option `resource`. */
export function createResourceMetadata(
  options: TokenVerifierOptions,
  dpopAlgorithms: readonly string[] | undefined,
): ResourceMetadata | undefined {
  const { resource, scopesSupported, dpop, allowInsecureRequests, introspection } = options
  if (resource === undefined) return undefined
  const { origin, pathname, search } = secureUrl('resource', resource, allowInsecureRequests)
  const { issuer, issuers } = options
  const listed = typeof issuers === 'object' ? issuers.map((one) => one.issuer) : [issuer].filter(Boolean)
  const { authUrl } = introspection ?? {}
  const fallback = listed.length > 0 || authUrl === undefined ? listed : [String(authUrl).replace(/\/$/, '')]
  // RFC 9728, section 3.1.
  const path = `/.well-known/oauth-protected-resource${pathname.replace(/\/$/, '')}`
  return {
    url: origin + path + search,
    path,
    document: {
      resource: String(resource),
      authorization_servers: options.authorizationServers ?? fallback,
      ...(scopesSupported && { scopes_supported: scopesSupported }),
      bearer_methods_supported: ['header'],
      ...(dpopAlgorithms && { dpop_signing_alg_values_supported: dpopAlgorithms }),
      ...(dpop?.required && { dpop_bound_access_tokens_required: true }),
    },
  }
}

/** Pages of any origin may read it. */
export const metadataHeaders = { 'access-control-allow-origin': '*', 'cache-control': 'max-age=300' }
