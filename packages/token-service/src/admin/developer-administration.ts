import type { FastifyInstance } from 'fastify'
import { NotFoundError } from '../runtime/usage-error.ts'
import type { ServiceContext } from '../oauth/service-context.ts'
import type { Developer } from '../storage/developer-storage.ts'
import { actorOf, type AdminRequest } from './admin-request.ts'
import type { DeveloperLinks } from './operation.ts'

/** The developers of the portal, by name, and which of them are administrators. */
export function administerDevelopers(
  server: FastifyInstance,
  { storage: { developers }, developersFor, linksFor, clock }: ServiceContext,
  links: DeveloperLinks,
): void {
  async function find(name: string): Promise<Developer> {
    const developer = await developers.find(name.normalize('NFKC').toLowerCase())
    if (!developer) throw new NotFoundError(`The developer portal has no developer named "${name}".`)
    return developer
  }

  server.get('/developers', async () =>
    (await developers.list()).map(({ id, name, administrator, createdAtMs }) => ({
      id,
      name,
      administrator,
      createdAtMs,
    })),
  )
  server.post('/invitations', async (request, reply) => {
    return reply.code(201).send(await links.createInvitation(actorOf(request)))
  })
  server.get('/invitations', async () =>
    (await developers.invitations(clock.now())).map(({ hash: id, ...invitation }) => ({ id, ...invitation })),
  )
  server.delete<AdminRequest>('/invitations/:id', async (request, reply) => {
    await linksFor(actorOf(request)).withdrawInvitation(request.params.id)
    return reply.code(204).send()
  })
  server.post<AdminRequest>('/developers/:id/password-link', async (request, reply) => {
    const link = await links.createPasswordLink(actorOf(request), request.params.id)
    return reply.code(201).send({ link })
  })
  for (const change of ['promote', 'demote'] as const) {
    server.post<AdminRequest>(`/developers/:id/${change}`, async (request, reply) => {
      await developersFor(actorOf(request))[change](await find(request.params.id))
      return reply.code(204).send()
    })
  }
  server.delete<AdminRequest>('/developers/:id', async (request, reply) => {
    await developersFor(actorOf(request)).remove(await find(request.params.id))
    return reply.code(204).send()
  })
}
