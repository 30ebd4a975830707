import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { assertionAlgorithms } from '../oauth/assertion-algorithms.ts'
import { jwtBearer } from '../oauth/parameters.ts'
import type { ServiceContext } from '../features/context.ts'
import { type Format, ProtocolError } from '../oauth/protocol-error.ts'
import { publicDocument } from './allow-origins.ts'
import {
  authorizationPath,
  introspectionPath,
  jwksPath,
  metadataPath,
  openapiJsonPath,
  openapiPath,
  openidMetadataPath,
  revocationPath,
  tokenEndpointUrl,
} from '../oauth/endpoint-paths.ts'
import { publicationMaxAgeSeconds } from '../oauth/signing-keys.ts'
import { createRenderingQueue } from './rendering-queue.ts'
import { createSharedRenderings } from './shared-renderings.ts'
import { baseUrl, portalRoot } from '../oauth/base-url.ts'

/** Authorization server metadata (RFC 8414), also where OpenID Connect Discovery looks for them. */
export function metadataEndpoint(
  server: FastifyInstance,
  { publicUrl, format, storage }: Pick<ServiceContext, 'publicUrl' | 'format' | 'storage'>,
): void {
  const methods = ['client_secret_post', 'client_secret_basic', 'private_key_jwt']
  const algorithms = assertionAlgorithms
  const respond = async (request: FastifyRequest, reply: FastifyReply) => {
    const issuer = baseUrl(request, publicUrl)
    const [scopes, issuers] = await Promise.all([storage.scopes.list(), storage.trustedIssuers.list()])
    return reply.send({
      issuer,
      // No response types are supported, but the official SDK of MCP, version 1, rejects metadata without one.
      authorization_endpoint: `${issuer}${authorizationPath}`,
      jwks_uri: `${issuer}${jwksPath}`,
      token_endpoint: tokenEndpointUrl(issuer, format),
      token_endpoint_auth_methods_supported: methods,
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      grant_types_supported: ['client_credentials', ...(issuers.length > 0 ? [jwtBearer] : [])],
      response_types_supported: [],
      dpop_signing_alg_values_supported: algorithms,
      ...(scopes.length > 0 && { scopes_supported: scopes.map(({ name }) => name) }),
      introspection_endpoint: `${issuer}${introspectionPath}`,
      introspection_endpoint_auth_methods_supported: methods,
      introspection_endpoint_auth_signing_alg_values_supported: algorithms,
      revocation_endpoint: `${issuer}${revocationPath}`,
      revocation_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    })
  }
  for (const path of [metadataPath, openidMetadataPath]) publicDocument(server, path, respond)
  server.get(authorizationPath, () => {
    throw new ProtocolError('unsupported_response_type')
  })
}

/** The public keys of JWTs (RFC 7517, section 5). */
export function jwksEndpoint(
  server: FastifyInstance,
  { signingKeys }: Pick<ServiceContext, 'signingKeys'>,
): void {
  publicDocument(server, jwksPath, async (_request, reply) => {
    const keys = await signingKeys.published()
    return reply
      .headers({ 'cache-control': `public, max-age=${publicationMaxAgeSeconds}` })
      .removeHeader('pragma')
      .type('application/jwk-set+json')
      .send(JSON.stringify({ keys }))
  })
}

/** Serves an OpenAPI document as YAML and as JSON; `describe` loads its modules on first use. */
export function openapiEndpoint(
  server: FastifyInstance,
  urlOf: (request: FastifyRequest) => string,
  describe: (baseUrl: string) => Promise<object>,
): void {
  const queue = createRenderingQueue()
  const [sendYaml, sendJson] = [createSharedRenderings(queue), createSharedRenderings(queue)]
  server.get(openapiPath, (request, reply) =>
    sendYaml(request, reply, {
      baseUrl: urlOf(request),
      type: 'application/yaml; charset=utf-8',
      async render() {
        const { stringify } = await import('yaml')
        return stringify(await describe(urlOf(request)))
      },
    }),
  )
  server.get(openapiJsonPath, (request, reply) =>
    sendJson(request, reply, {
      baseUrl: urlOf(request),
      type: 'application/json; charset=utf-8',
      render: async () => JSON.stringify(await describe(urlOf(request))),
    }),
  )
}

/** `/` leads people to the portal, if there is one, and machines to the endpoints. */
export function homeEndpoint(
  server: FastifyInstance,
  {
    publicUrl,
    portal: hasPortal,
    format,
  }: {
    readonly publicUrl?: string | undefined
    readonly portal: boolean
    readonly format: Format
  },
): void {
  server.get('/', (request, reply) => {
    void reply.header('vary', 'accept')
    const base = baseUrl(request, publicUrl)
    const isPerson = request.headers.accept?.includes('text/html')
    if (isPerson && hasPortal) return reply.redirect(`${base}${portalRoot}`)
    return reply.send({
      token_endpoint: tokenEndpointUrl(base, format),
      introspection_endpoint: `${base}${introspectionPath}`,
      revocation_endpoint: `${base}${revocationPath}`,
      metadata: `${base}${metadataPath}`,
      openapi: `${base}${openapiPath}`,
      ...(hasPortal && { portal: `${base}${portalRoot}` }),
    })
  })
}
