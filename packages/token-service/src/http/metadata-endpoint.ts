import type { FastifyInstance } from 'fastify'
import { baseUrl } from './base-url.ts'
import { introspectionPath, revocationPath, tokenPath } from '../protocol/endpoint-paths.ts'

const metadataPath = '/.well-known/oauth-authorization-server'

/** Authorization server metadata (RFC 8414). */
export function metadataEndpoint(server: FastifyInstance, publicUrl: string | undefined): void {
  const methods = ['client_secret_post', 'client_secret_basic']
  server.get(metadataPath, (request, reply) => {
    const issuer = baseUrl(request, publicUrl)
    return reply.send({
      issuer,
      // The endpoint requires this parameter in the query.
      token_endpoint: `${issuer}${tokenPath}?grant_type=client_credentials`,
      token_endpoint_auth_methods_supported: methods,
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      introspection_endpoint: `${issuer}${introspectionPath}`,
      introspection_endpoint_auth_methods_supported: methods,
      revocation_endpoint: `${issuer}${revocationPath}`,
      revocation_endpoint_auth_methods_supported: methods,
    })
  })
}
