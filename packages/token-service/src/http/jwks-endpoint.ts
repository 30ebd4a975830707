import type { FastifyInstance } from 'fastify'
import { jwksPath } from '../oauth/endpoint-paths.ts'
import type { ServiceContext } from '../oauth/service-context.ts'
import { publicationMaxAgeSeconds } from '../oauth/signing-keys.ts'

/** The public keys of JWTs (RFC 7517, section 5). */
export function jwksEndpoint(
  server: FastifyInstance,
  { signingKeys }: Pick<ServiceContext, 'signingKeys'>,
): void {
  server.get(jwksPath, async (_request, reply) => {
    const keys = await signingKeys.published()
    return reply
      .headers({ 'cache-control': `public, max-age=${publicationMaxAgeSeconds}` })
      .removeHeader('pragma')
      .type('application/jwk-set+json')
      .send(JSON.stringify({ keys }))
  })
}
