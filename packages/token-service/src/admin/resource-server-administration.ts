import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ResourceServer } from '../storage/storage.ts'
import { parseValue } from '../runtime/parse-value.ts'
import type { ServiceContext } from '../oauth/service-context.ts'
import { actorOf, credentialIds, describeCredentials, naming, type AdminRequest } from './admin-request.ts'
import { administerCredentials } from './credential-administration.ts'

const path = '/resource-servers/:clientId'

/** The APIs that may introspect tokens, their secrets and their public keys. */
export function administerResourceServers(server: FastifyInstance, service: ServiceContext): void {
  const registry = (request: FastifyRequest) => service.resourceServersFor(actorOf(request))
  const find = (request: FastifyRequest<AdminRequest>) => registry(request).find(request.params.clientId)

  async function describe(servers: readonly ResourceServer[]) {
    const lastUses = await service.activity.lastUses(servers.flatMap(credentialIds))
    return servers.map((each) => ({ ...each, ...describeCredentials(each, lastUses) }))
  }

  server.get('/resource-servers', async (request, reply) =>
    reply.send(await describe(await service.storage.resourceServers.list())),
  )
  server.get<AdminRequest>(path, async (request, reply) => {
    const [described] = await describe([await find(request)])
    return reply.send(described)
  })
  server.post('/resource-servers', async (request, reply) => {
    const { name } = parseValue(naming, request.body)
    const { resourceServer, clientSecret } = await registry(request).create(name)
    return reply.code(201).send({ clientId: resourceServer.clientId, clientSecret })
  })
  server.patch<AdminRequest>(path, async (request, reply) => {
    await registry(request).rename(await find(request), parseValue(naming, request.body).name)
    return reply.code(204).send()
  })
  server.delete<AdminRequest>(path, async (request, reply) => {
    await registry(request).remove(await find(request))
    return reply.code(204).send()
  })
  administerCredentials(server, path, registry, find)
}
