import type { FastifyInstance, FastifyRequest } from 'fastify'
import { baseUrl } from './base-url.ts'
import { openapiJsonPath, openapiPath } from '../oauth/endpoint-paths.ts'
import type { ServiceContext } from '../oauth/service-context.ts'

/** Serves the OpenAPI document as YAML and as JSON; its modules are loaded on first use. */
export function openapiEndpoint(
  server: FastifyInstance,
  { errors, grantTypeIn, publicUrl }: Pick<ServiceContext, 'errors' | 'grantTypeIn' | 'publicUrl'>,
): void {
  const describe = async (request: FastifyRequest): Promise<object> => {
    const { apiDescription } = await import('./openapi/api-description.ts')
    return apiDescription(baseUrl(request, publicUrl), errors, grantTypeIn)
  }

  server.get(openapiPath, async (request, reply) => {
    const { stringify } = await import('yaml')
    return reply.type('application/yaml; charset=utf-8').send(stringify(await describe(request)))
  })
  server.get(openapiJsonPath, (request, reply) => describe(request).then((document) => reply.send(document)))
}
