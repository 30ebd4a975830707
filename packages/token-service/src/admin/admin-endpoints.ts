import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { RegisteredClient } from '../storage/application.ts'
import { parseValue } from '../runtime/parse-value.ts'
import { NotFoundError } from '../runtime/usage-error.ts'
import { actorOf, credentialIds, describeCredentials, type AdminRequest } from './admin-request.ts'
import { administerCredentials } from './credential-administration.ts'
import { administerDevelopers } from './developer-administration.ts'
import { verifyAudit } from './verify-audit.ts'
import { administerResourceServers } from './resource-server-administration.ts'
import { administerTrustedIssuers } from './trusted-issuer-administration.ts'
import { rejectWithoutAudience } from '../clients/application-options.ts'
import {
  applicationSettings,
  newApplicationSettings,
  maxNoteLength,
  productName,
  scopeName,
} from '../clients/application-schema.ts'
import { confirmClock } from '../clients/confirm-clock.ts'
import { checkpoint, type DeveloperLinks } from './operation.ts'
import type { ServiceContext } from '../oauth/service-context.ts'

export const newProject = z.strictObject({
  name: z.string().trim().min(1).max(200),
  organizationName: z.string().max(200).default(''),
  developerEmail: z.union([z.literal(''), z.email()]).default(''),
})
export const newApplication = newApplicationSettings.extend({
  projectId: z.string().min(1).describe('The ID of its project.'),
})
export const tokenSettings = applicationSettings
  .pick({ tokenFormat: true, audiences: true, claims: true })
  .partial()
export const signingKeyRotation = z
  .strictObject({ emergency: z.boolean(), overlapSeconds: z.int().min(0) })
  .partial()
export const approval = z.strictObject({ revision: z.int().min(0) }).partial()
export const decline = z
  .strictObject({
    reason: z.string().trim().min(1).max(maxNoteLength).describe('Shown to the owner of the application.'),
    revision: approval.shape.revision.unwrap(),
  })
  .partial()
export const applicationQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  after: z.string().optional(),
})
const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))
export const verification = z.strictObject({
  checkpoint: checkpoint.optional(),
})
export const expiryQuery = z.strictObject({
  days: z.coerce.number().int().min(1).max(365).default(30),
  limit: z.coerce.number().int().min(1).max(1_000).default(1_000),
})
export const auditQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100_000).default(1_000),
  since: time.optional(),
  until: time.optional(),
  clientId: z.string().optional(),
  event: z.string().optional(),
})

/** Administration over HTTP: applications, resource servers, products, scopes, developers and the audit log. */
export function adminEndpoints(
  server: FastifyInstance,
  service: ServiceContext,
  links: DeveloperLinks,
): void {
  const { storage, act, registryFor, activity } = service
  const registry = (request: FastifyRequest) => registryFor(actorOf(request))

  async function find(clientId: string): Promise<RegisteredClient> {
    const client = await storage.applications.findClient(clientId)
    if (!client) throw new NotFoundError(`There is no application with the client ID "${clientId}".`)
    return client
  }

  async function describe(clients: readonly RegisteredClient[]) {
    const credentials = clients.map(({ secrets, application: { keys } }) => ({ secrets, keys }))
    const lastUses = await activity.lastUses(credentials.flatMap(credentialIds))
    return clients.map(({ application, project, secrets }) => ({
      ...application,
      project: project.name,
      ...describeCredentials({ secrets, keys: application.keys }, lastUses),
    }))
  }

  async function describeOne(clientId: string) {
    const [described] = await describe([await find(clientId)])
    return described
  }

  server.get('/projects', async () => {
    const projects = await storage.projects.list()
    const owners = await storage.listings.owners(projects.map(({ id }) => id))
    return projects.map((project) => ({ ...project, owners: owners.get(project.id) ?? [] }))
  })
  server.post('/projects', async (request, reply) => {
    const project = await registry(request).createProject(parseValue(newProject, request.body))
    return reply.code(201).send({ ...project, owners: [] })
  })

  server.get('/applications', async (request, reply) => {
    const { limit, after } = parseValue(applicationQuery, request.query)
    const clients = await storage.applications.page(limit, after)
    const last = clients.at(-1)?.application.clientId
    if (last !== undefined && clients.length === limit) {
      const next = new URLSearchParams({ limit: String(limit), after: last })
      void reply.header('link', `</applications?${next}>; rel="next"`)
    }
    return reply.send(await describe(clients))
  })
  server.get<AdminRequest>('/applications/:clientId', async ({ params }) => describeOne(params.clientId))
  server.post('/applications', async (request, reply) => {
    const details = parseValue(newApplication, request.body)
    rejectWithoutAudience([{ clientId: details.name, ...details }])
    const settings = { ...details, status: 'approved' as const }
    const { application, clientSecret } = await registry(request).createApplication(settings)
    await storage.products.add(details.products)
    await storage.scopes.add(details.scopes)
    return reply.code(201).send({ clientId: application.clientId, clientSecret })
  })

  server.patch<AdminRequest>('/applications/:clientId', async (request, reply) => {
    const { application } = await find(request.params.clientId)
    const changes = parseValue(tokenSettings, request.body)
    const settings = {
      tokenFormat: changes.tokenFormat ?? application.tokenFormat,
      audiences: changes.audiences ?? application.audiences,
      claims: changes.claims ?? application.claims,
    }
    rejectWithoutAudience([{ ...application, ...settings }])
    await registry(request).changeTokens(application, settings)
    return reply.send(await describeOne(request.params.clientId))
  })

  const decisions = {
    approve: async (request: FastifyRequest, { application }: RegisteredClient) =>
      registry(request).approve(
        application,
        parseValue(approval, request.body ?? {}).revision ?? application.revision,
      ),
    decline: async (request: FastifyRequest, { application }: RegisteredClient) =>
      registry(request).decline(application, parseValue(decline, request.body ?? {})),
    revoke: async (request: FastifyRequest, { application }: RegisteredClient) =>
      registry(request).revoke(application),
    'revoke-tokens': async (request: FastifyRequest, { application }: RegisteredClient) =>
      registry(request).revokeTokens(application),
  }
  for (const [decision, decide] of Object.entries(decisions)) {
    server.post<AdminRequest>(`/applications/:clientId/${decision}`, async (request) => {
      await decide(request, await find(request.params.clientId))
      return describeOne(request.params.clientId)
    })
  }
  administerCredentials(server, '/applications/:clientId', registry, async ({ params }) => {
    const { application, secrets } = await find(params.clientId)
    return { ...application, secrets }
  })

  for (const [kind, schema, noun] of [
    ['products', productName, 'product'],
    ['scopes', scopeName, 'scope'],
  ] as const) {
    server.get(`/${kind}`, () => storage[kind].list())
    server.put<AdminRequest>(`/${kind}/:id`, async (request, reply) => {
      const added = parseValue(schema, request.params.id, `The name of the ${noun}`)
      await act(actorOf(request), async ({ [kind]: catalogue }, audit) => {
        await catalogue.add([added])
        audit(`${noun}_added`, { detail: added })
      })
      return reply.code(204).send()
    })
    server.delete<AdminRequest>(`/${kind}/:id`, async (request, reply) => {
      await act(actorOf(request), async ({ [kind]: catalogue }, audit) => {
        await catalogue.remove(request.params.id)
        audit(`${noun}_removed`, { detail: request.params.id })
      })
      return reply.code(204).send()
    })
  }

  server.get('/signing-keys', () => service.signingKeys.list())
  server.post('/signing-keys/rotation', async (request, reply) => {
    await service.signingKeys.rotate(actorOf(request), parseValue(signingKeyRotation, request.body ?? {}))
    return reply.send(await service.signingKeys.list())
  })

  server.get('/expiring-secrets', async (request, reply) => {
    const { days, limit } = parseValue(expiryQuery, request.query)
    const nowMs = service.clock.now()
    await activity.flush()
    const period = [nowMs, nowMs + days * 86_400_000] as const
    const { items } = await storage.listings.expiringSecrets(period, { limit, offset: 0 })
    return reply.send(
      items.map(({ owner: { clientId, name }, ...secret }) => ({ clientId, name, ...secret })),
    )
  })

  administerResourceServers(server, service)
  administerTrustedIssuers(server, service)
  administerDevelopers(server, service, links)

  /** The last entry's checkpoint, to be kept elsewhere; with an earlier one, what it covers must still be there. */
  server.post('/audit/verification', async (request, reply) => {
    const { checkpoint } = parseValue(verification, request.body ?? {})
    return reply.send(await verifyAudit(storage.audit, service.keyring, checkpoint))
  })
  server.post('/clock/confirmation', async (request, reply) => {
    await confirmClock(service, actorOf(request))
    return reply.code(204).send()
  })
  /** JSON lines, the newest first. */
  server.get('/audit', async (request, reply) => {
    const { limit, since: sinceMs, until: untilMs, ...filter } = parseValue(auditQuery, request.query)
    await activity.flush()
    const lines = (await storage.audit.list(limit, { ...filter, sinceMs, untilMs })).map(
      (entry) => `${JSON.stringify(entry)}\n`,
    )
    return reply.type('application/x-ndjson').send(lines.join(''))
  })
}
