import type { FastifyInstance } from 'fastify'
import type { ResourceServer } from '../storage/resource-server.ts'
import { parseValue } from '../runtime/parse-value.ts'
import type { ServiceContext } from '../oauth/service-context.ts'
import {
  actorOf,
  credentialIds,
  describeCredentials,
  naming,
  newKey,
  rotation,
  type AdminRequest,
} from './admin-request.ts'

const path = '/resource-servers/:clientId'

/** The APIs that may introspect tokens, their secrets and their public keys. */
export function administerResourceServers(server: FastifyInstance, service: ServiceContext): void {
  const registry = (request: Parameters<typeof actorOf>[0]) => service.resourceServersFor(actorOf(request))

  async function describe(servers: readonly ResourceServer[]) {
    const lastUses = await service.activity.lastUses(servers.flatMap(credentialIds))
    return servers.map((each) => ({ ...each, ...describeCredentials(each, lastUses) }))
  }

  server.get('/resource-servers', async (request, reply) =>
    reply.send(await describe(await registry(request).list())),
  )
  server.get<AdminRequest>(path, async (request, reply) => {
    const [described] = await describe([await registry(request).find(request.params.clientId)])
    return reply.send(described)
  })
  server.post('/resource-servers', async (request, reply) => {
    const { name } = parseValue(naming, request.body)
    const { resourceServer, clientSecret } = await registry(request).create(name)
    return reply.code(201).send({ clientId: resourceServer.clientId, clientSecret })
  })
  server.patch<AdminRequest>(path, async (request, reply) => {
    await registry(request).rename(request.params.clientId, parseValue(naming, request.body).name)
    return reply.code(204).send()
  })
  server.delete<AdminRequest>(path, async (request, reply) => {
    await registry(request).remove(request.params.clientId)
    return reply.code(204).send()
  })
  server.post<AdminRequest>(`${path}/secrets`, async (request, reply) => {
    const { overlapSeconds } = parseValue(rotation, request.body ?? {})
    const { clientId } = request.params
    const clientSecret = await registry(request).rotateSecret(clientId, overlapSeconds * 1000)
    return reply.code(201).send({ clientId, clientSecret })
  })
  server.delete<AdminRequest>(`${path}/secrets/:id`, async (request, reply) => {
    await registry(request).revokeSecret(request.params.clientId, request.params.id)
    return reply.code(204).send()
  })
  server.post<AdminRequest>(`${path}/keys`, async (request, reply) => {
    const { key, name } = parseValue(newKey, request.body)
    return reply.code(201).send(await registry(request).addKeys(request.params.clientId, key, name))
  })
  server.patch<AdminRequest>(`${path}/keys/:id`, async (request, reply) => {
    const { clientId, id } = request.params
    await registry(request).renameKey(clientId, id, parseValue(naming, request.body).name)
    return reply.code(204).send()
  })
  server.delete<AdminRequest>(`${path}/keys/:id`, async (request, reply) => {
    await registry(request).removeKey(request.params.clientId, request.params.id)
    return reply.code(204).send()
  })
}
