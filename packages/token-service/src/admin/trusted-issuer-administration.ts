import type { FastifyInstance, FastifyRequest } from 'fastify'
import { trustedIssuerSettings } from '../clients/trusted-issuers.ts'
import type { ServiceContext } from '../oauth/service-context.ts'
import { parseValue } from '../runtime/parse-value.ts'
import { actorOf, type AdminRequest } from './admin-request.ts'

/** The issuers whose JWTs are exchanged for access tokens. */
export function administerTrustedIssuers(server: FastifyInstance, service: ServiceContext): void {
  const registry = (request: FastifyRequest) => service.trustedIssuersFor(actorOf(request))

  server.get('/trusted-issuers', async () => {
    const issuers = await service.storage.trustedIssuers.list()
    const lastUses = await service.activity.lastUses(issuers.map(({ id }) => id))
    return issuers.map((issuer) => ({ ...issuer, lastUsedAtMs: lastUses.get(issuer.id) }))
  })
  server.post('/trusted-issuers', async (request, reply) => {
    const added = await registry(request).add(parseValue(trustedIssuerSettings, request.body))
    return reply.code(201).send(added)
  })
  server.put<AdminRequest>('/trusted-issuers/:id', (request) =>
    registry(request).change(request.params.id, parseValue(trustedIssuerSettings, request.body)),
  )
  server.delete<AdminRequest>('/trusted-issuers/:id', async (request, reply) => {
    await registry(request).remove(request.params.id)
    return reply.code(204).send()
  })
}
