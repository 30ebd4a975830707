import type { FastifyInstance, FastifyRequest } from 'fastify'
import { baseUrl } from './base-url.ts'
import { openapiJsonPath, openapiPath } from '../protocol/endpoint-paths.ts'
import type { ErrorFormat } from '../protocol/protocol-error.ts'

/** Serves the OpenAPI document as YAML and as JSON; its modules are loaded on first use. */
export function openapiEndpoint(
  server: FastifyInstance,
  errors: ErrorFormat,
  publicUrl: string | undefined,
): void {
  const describe = async (request: FastifyRequest): Promise<object> => {
    const { apiDescription } = await import('../openapi/api-description.ts')
    return apiDescription(baseUrl(request, publicUrl), errors)
  }

  server.get(openapiPath, async (request, reply) => {
    const { stringify } = await import('yaml')
    return reply.type('application/yaml; charset=utf-8').send(stringify(await describe(request)))
  })
  server.get(openapiJsonPath, (request, reply) => describe(request).then((document) => reply.send(document)))
}
