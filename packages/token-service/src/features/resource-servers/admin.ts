import { z } from 'zod'
import {
  client,
  credentialIds,
  credentials,
  describeCredentials,
  naming,
  newCredentials,
} from '../credentials/credential-schemas.ts'
import { audiences } from '../catalogue/settings.ts'
import { named, operation, type AdminContext, type OperationGroup } from '../operation.ts'
import { checkRevision, requireRevision } from '../../storage/revision.ts'
import {
  changeResourceServer,
  createResourceServer,
  findResourceServer,
  removeResourceServer,
} from './acts.ts'
import type { ResourceServer } from './storage.ts'

const bound = audiences.describe('Tokens for other APIs (`aud`) are inactive for it.')
const resourceServer = named(
  'ResourceServer',
  z.looseObject({ ...client.shape, audiences: bound.optional(), ...credentials }),
)

async function describe({ activity }: AdminContext, servers: readonly ResourceServer[]) {
  const lastUses = await activity.lastUses(servers.flatMap(credentialIds))
  return servers.map((each) => ({ ...each, ...describeCredentials(each, lastUses) }))
}

/** The APIs that may introspect tokens. */
export const resourceServerOperations: OperationGroup = {
  heading: 'Resource servers',
  operations: [
    operation({
      method: 'get',
      path: '/resource-servers',
      command: 'resource-servers',
      summary: 'List resource servers',
      response: z.array(resourceServer),
      run: async (service) => describe(service, await service.storage.resourceServers.list()),
    }),
    operation({
      method: 'post',
      path: '/resource-servers',
      command: 'create-resource-server',
      summary: 'Create a resource server',
      body: naming.extend({ audiences: bound.optional() }),
      response: newCredentials,
      status: 201,
      async run({ perform }, { body, by }) {
        const { resourceServer, clientSecret } = await perform(by, (act) => createResourceServer(act, body))
        return { clientId: resourceServer.clientId, clientSecret }
      },
    }),
    operation({
      method: 'get',
      path: '/resource-servers/:clientId',
      etag: true,
      command: 'resource-server',
      summary: 'Get a resource server',
      response: resourceServer,
      async run(service, { params }) {
        const found = await findResourceServer(service.storage.resourceServers, params.clientId)
        const [described] = await describe(service, [found])
        return described!
      },
    }),
    operation({
      method: 'patch',
      path: '/resource-servers/:clientId',
      command: 'rename-resource-server',
      ifMatch: 'optional',
      summary: 'Rename a resource server',
      body: naming,
      run: ({ perform }, { params, body, by, seen }) =>
        perform(by, (act) =>
          changeResourceServer(act, params.clientId, body, ({ revision }) =>
            checkRevision('The resource server', String(revision), seen),
          ),
        ),
    }),
    operation({
      method: 'put',
      path: '/resource-servers/:clientId/audiences',
      command: { name: 'bind-resource-server', options: ['audiences'] },
      summary: 'Make tokens for other APIs inactive for a resource server',
      ifMatch: 'required',
      body: z.strictObject({ audiences: bound }),
      run: ({ perform }, { params, body, by, seen }) =>
        perform(by, (act) =>
          changeResourceServer(act, params.clientId, body, ({ audiences, revision }) =>
            audiences
              ? requireRevision('The list of audiences', String(revision), seen)
              : checkRevision('The resource server', String(revision), seen),
          ),
        ),
    }),
    operation({
      method: 'delete',
      path: '/resource-servers/:clientId/audiences',
      command: 'unbind-resource-server',
      summary: 'Let a resource server introspect every token',
      run: ({ perform }, { params, by }) =>
        perform(by, (act) => changeResourceServer(act, params.clientId, { audiences: null })),
    }),
    operation({
      method: 'delete',
      path: '/resource-servers/:clientId',
      command: 'remove-resource-server',
      summary: 'Remove a resource server',
      run: ({ perform }, { params, by }) => perform(by, (act) => removeResourceServer(act, params.clientId)),
    }),
  ],
}
