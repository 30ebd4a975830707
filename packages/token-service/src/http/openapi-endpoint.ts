import type { FastifyInstance, FastifyRequest } from 'fastify'
import { openapiJsonPath, openapiPath } from '../oauth/endpoint-paths.ts'

/** Serves an OpenAPI document as YAML and as JSON; `describe` loads its modules on first use. */
export function openapiEndpoint(
  server: FastifyInstance,
  describe: (request: FastifyRequest) => Promise<object>,
): void {
  server.get(openapiPath, async (request, reply) => {
    const { stringify } = await import('yaml')
    return reply.type('application/yaml; charset=utf-8').send(stringify(await describe(request)))
  })
  server.get(openapiJsonPath, (request, reply) => describe(request).then((document) => reply.send(document)))
}
