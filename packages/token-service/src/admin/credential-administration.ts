import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { CredentialOwner, CredentialRegistry } from '../clients/credential-registry.ts'
import { parseValue } from '../runtime/parse-value.ts'
import { naming, type AdminRequest } from './admin-request.ts'

export const rotation = z.strictObject({ overlapSeconds: z.number().min(0).default(86_400) })
export const newKey = naming.partial().extend({ key: z.string().min(1) })

/** The secrets and the public keys of applications, or of resource servers. */
export function administerCredentials(
  server: FastifyInstance,
  path: string,
  registry: (request: FastifyRequest) => CredentialRegistry,
  find: (request: FastifyRequest<AdminRequest>) => Promise<CredentialOwner>,
): void {
  server.post<AdminRequest>(`${path}/secrets`, async (request, reply) => {
    const { overlapSeconds } = parseValue(rotation, request.body ?? {})
    const owner = await find(request)
    const clientSecret = await registry(request).rotateSecret(owner, overlapSeconds * 1000)
    return reply.code(201).send({ clientId: owner.clientId, clientSecret })
  })
  server.delete<AdminRequest>(`${path}/secrets/:id`, async (request, reply) => {
    await registry(request).revokeSecret(await find(request), request.params.id)
    return reply.code(204).send()
  })
  server.post<AdminRequest>(`${path}/keys`, async (request, reply) => {
    const { key, name } = parseValue(newKey, request.body)
    const owner = await find(request)
    return reply.code(201).send(await registry(request).addKeys(owner, key, name))
  })
  server.patch<AdminRequest>(`${path}/keys/:id`, async (request, reply) => {
    const owner = await find(request)
    const { name } = parseValue(naming, request.body)
    await registry(request).renameKey(owner, request.params.id, name)
    return reply.code(204).send()
  })
  server.delete<AdminRequest>(`${path}/keys/:id`, async (request, reply) => {
    await registry(request).removeKey(await find(request), request.params.id)
    return reply.code(204).send()
  })
}
