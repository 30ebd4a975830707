import type { FastifyInstance } from 'fastify'
import { baseUrl } from './base-url.ts'
import { openapiPath } from '../protocol/endpoint-paths.ts'
import type { ErrorShape } from '../protocol/protocol-error.ts'

/** Serves the OpenAPI document; its modules are loaded on first use. */
export function openapiEndpoint(
  server: FastifyInstance,
  errors: ErrorShape,
  publicUrl: string | undefined,
): void {
  server.get(openapiPath, async (request, reply) => {
    const [{ stringify }, { apiDescription }] = await Promise.all([
      import('yaml'),
      import('../openapi/api-description.ts'),
    ])
    const description = apiDescription(baseUrl(request, publicUrl), errors)
    return reply.type('application/yaml; charset=utf-8').send(stringify(description))
  })
}
