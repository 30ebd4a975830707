import type { Format } from './protocol-error.ts'

export const tokenPath = '/oauth/client_credential/accesstoken'
export const introspectionPath = '/oauth/introspect'
export const revocationPath = '/oauth/revoke'
export const metadataPath = '/.well-known/oauth-authorization-server'
/** Where OpenID Connect Discovery looks, which many clients do by default. */
export const openidMetadataPath = '/.well-known/openid-configuration'
/** Rejects every request: no grant of this service begins there. */
export const authorizationPath = '/oauth/authorize'
export const jwksPath = '/.well-known/jwks.json'
export const openapiPath = '/openapi.yaml'
export const openapiJsonPath = '/openapi.json'

/** The URL of the token endpoint, for clients that send `grant_type` in the form only. */
export function tokenEndpointUrl(baseUrl: string, format: Format): string {
  return `${baseUrl}${tokenPath}${format === 'platform' ? '?grant_type=client_credentials' : ''}`
}
