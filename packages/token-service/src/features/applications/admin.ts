import { z } from 'zod'
import { optionalText, reference, revision } from '../../runtime/bounds.ts'
import {
  client,
  credentialIds,
  credentials,
  describeCredentials,
  newCredentials,
} from '../credentials/credential-schemas.ts'
import { ms, named, operation, type AdminContext, type OperationGroup } from '../operation.ts'
import { changeTokens, createApplication } from './acts.ts'
import { approve, decline, revokeApproval, revokeTokens } from './approval-acts.ts'
import {
  applicationSchema,
  applicationSettings,
  maxNoteLength,
  newApplicationSettings,
  rejectWithoutAudience,
  tokenSettings,
} from './settings.ts'
import { NotFoundError } from '../../runtime/usage-error.ts'
import type { RegisteredClient } from '../../storage/application.ts'

const application = named(
  'Application',
  z.looseObject({
    ...client.shape,
    projectId: z.string(),
    project: z.string().describe('The name of its project.'),
    status: applicationSchema.shape.status.unwrap(),
    ...applicationSettings.shape,
    requested: z
      .looseObject({})
      .optional()
      .describe(
        'What the owner requests beyond the approval. The approval stays in effect until a decision.',
      ),
    review: z
      .looseObject({
        note: z.string().optional().describe('What the owner wrote about the request.'),
        requestedAtMs: ms.optional().describe('When changes, or another approval, were requested.'),
        declined: z
          .looseObject({ reason: z.string().optional(), revision: z.int() })
          .optional()
          .describe('Set if an administrator declined the last request.'),
      })
      .optional(),
    deletesAtMs: ms
      .optional()
      .describe('Set while the application is being deleted: it can be restored until then.'),
    ...credentials,
  }),
)

const page = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  after: reference.optional(),
})
const newApplication = newApplicationSettings.extend({
  projectId: reference.min(1).describe('The ID of its project.'),
})
const seenRevision = revision.describe('The one that was read: the application must not have changed since.')
const approval = z.strictObject({ revision: seenRevision }).partial()
const declined = z
  .strictObject({
    reason: optionalText(maxNoteLength)
      .pipe(z.string().min(1))
      .describe('Shown to the owner of the application.'),
    revision: seenRevision,
  })
  .partial()

async function find({ storage }: AdminContext, clientId: string): Promise<RegisteredClient> {
  const found = await storage.applications.findClient(clientId)
  if (!found) throw new NotFoundError(`There is no application with the client ID "${clientId}".`)
  return found
}

async function describe({ activity }: AdminContext, clients: readonly RegisteredClient[]) {
  const used = clients.flatMap(({ secrets, application: { keys } }) => credentialIds({ secrets, keys }))
  const lastUses = await activity.lastUses(used)
  return clients.map(({ application, project, secrets }) => ({
    ...application,
    project: project.name,
    ...describeCredentials({ secrets, keys: application.keys }, lastUses),
  }))
}

async function describeOne(service: AdminContext, clientId: string) {
  const [described] = await describe(service, [await find(service, clientId)])
  return described!
}

export const applicationOperations: OperationGroup = {
  heading: 'Applications',
  operations: [
    operation({
      method: 'get',
      path: '/applications',
      command: { name: 'applications', without: ['limit', 'after'] },
      summary: 'List applications; `Link` has the URL of the next page',
      query: page,
      response: z.array(application),
      async run(service, { query: { limit, after }, reply }) {
        const clients = await service.storage.applications.page(limit, after)
        const last = clients.at(-1)?.application.clientId
        if (last !== undefined && clients.length === limit) {
          const next = new URLSearchParams({ limit: String(limit), after: last })
          void reply.header('link', `</applications?${next}>; rel="next"`)
        }
        return describe(service, clients)
      },
    }),
    operation({
      method: 'get',
      path: '/applications/:clientId',
      etag: true,
      command: 'application',
      summary: 'Get an application',
      response: application,
      run: (service, { params }) => describeOne(service, params.clientId),
    }),
    operation({
      method: 'post',
      path: '/applications',
      command: { name: 'create-application', options: ['projectId'] },
      summary: 'Create an approved application',
      body: newApplication,
      response: newCredentials,
      status: 201,
      async run({ perform, storage }, { body, by }) {
        rejectWithoutAudience([{ clientId: body.name, ...body }])
        const settings = { ...body, status: 'approved' as const }
        const { application, clientSecret } = await perform(by, (act) => createApplication(act, settings))
        await storage.products.add(body.products)
        await storage.scopes.add(body.scopes)
        return { clientId: application.clientId, clientSecret }
      },
    }),
    operation({
      method: 'patch',
      path: '/applications/:clientId',
      etag: true,
      ifMatch: 'optional',
      command: 'change-tokens',
      summary:
        'Change the format, the audiences, the binding or further claims of the tokens of an application',
      body: tokenSettings.partial(),
      response: application,
      async run(service, { params: { clientId }, body, by, seen }) {
        await service.perform(by, (act) => changeTokens(act, clientId, body, seen))
        return describeOne(service, clientId)
      },
    }),
    operation({
      method: 'post',
      path: '/applications/:clientId/approve',
      command: 'approve',
      summary: 'Approve an application, at the given revision only if there is one',
      body: approval,
      response: application,
      async run(service, { params: { clientId }, body, by }) {
        const { application } = await find(service, clientId)
        await service.perform(by, (act) => approve(act, application, body.revision ?? application.revision))
        return describeOne(service, clientId)
      },
    }),
    operation({
      method: 'post',
      path: '/applications/:clientId/decline',
      command: 'decline',
      summary: 'Decline a new application, or the changes that its owner requests',
      body: declined,
      response: application,
      async run(service, { params: { clientId }, body, by }) {
        const { application } = await find(service, clientId)
        await service.perform(by, (act) => decline(act, application, body))
        return describeOne(service, clientId)
      },
    }),
    operation({
      method: 'post',
      path: '/applications/:clientId/revoke',
      command: 'revoke',
      summary: 'Revoke an application and its tokens',
      response: application,
      async run(service, { params: { clientId }, by }) {
        const { application } = await find(service, clientId)
        await service.perform(by, (act) => revokeApproval(act, application))
        return describeOne(service, clientId)
      },
    }),
    operation({
      method: 'post',
      path: '/applications/:clientId/revoke-tokens',
      command: 'revoke-tokens',
      summary: 'Revoke all tokens of an application',
      response: application,
      async run(service, { params: { clientId }, by }) {
        const { application } = await find(service, clientId)
        await service.perform(by, (act) => revokeTokens(act, application))
        return describeOne(service, clientId)
      },
    }),
  ],
}
