import type { FastifyInstance } from 'fastify'
import { baseUrl } from './base-url.ts'
import type { ErrorShape } from './error-body.ts'

/** Serves the API description; what it is made with is loaded when someone asks for it. */
export function descriptionEndpoint(
  server: FastifyInstance,
  errors: ErrorShape,
  publicUrl: string | undefined,
): void {
  server.get('/openapi.yaml', async (request, reply) => {
    const [{ stringify }, { apiDescription }] = await Promise.all([
      import('yaml'),
      import('../openapi/api-description.ts'),
    ])
    const description = apiDescription(baseUrl(request, publicUrl), errors)
    return reply.type('application/yaml; charset=utf-8').send(stringify(description))
  })
}
