import type { FastifyInstance } from 'fastify'
import {
  introspectionPath,
  metadataPath,
  openapiPath,
  revocationPath,
  tokenEndpointUrl,
} from '../oauth/endpoint-paths.ts'
import type { Format } from '../oauth/protocol-error.ts'
import { baseUrl, portalRoot } from './base-url.ts'

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
