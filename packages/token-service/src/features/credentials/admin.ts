import { z } from 'zod'
import { overlapSeconds } from '../../runtime/bounds.ts'
import { key, naming, newCredentials, secret } from './credential-schemas.ts'
import {
  ms,
  named,
  operation,
  type AdminContext,
  type AnyOperation,
  type OperationGroup,
} from '../operation.ts'
import { addKeys, removeKey, renameKey, revokeSecret, rotateSecret, type CredentialOwner } from './acts.ts'
import { expiresSoonMs } from '../../storage/application.ts'
import { NotFoundError } from '../../runtime/usage-error.ts'

const rotation = z.strictObject({
  overlapSeconds: overlapSeconds
    .default(86_400)
    .describe('How long the existing secrets stay valid at most.'),
})
const newKey = z.strictObject({
  name: naming.shape.name
    .optional()
    .describe('What it is called; by default the ID in the key, its thumbprint, or the URL.'),
  key: z.string().min(1).describe('PEM, a JWK, a JWK set, or the https URL of a JWK set.'),
})
const expiryQuery = z.strictObject({
  days: z.coerce
    .number()
    .int()
    .min(1)
    .max(365)
    .default(expiresSoonMs / 86_400_000)
    .describe('Within how many days they expire.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(1_000).describe('How many are listed at most.'),
})
const expiringSecret = named(
  'ExpiringSecret',
  z.looseObject({
    clientId: z.string().describe('Of an application or of a resource server.'),
    name: z.string(),
    id: z.string(),
    prefix: secret.shape.prefix,
    expiresAtMs: ms,
    lastUsedAtMs: ms.optional(),
  }),
)

/** The two kinds of clients that have credentials. */
interface Owners {
  readonly path: '/applications/:clientId' | '/resource-servers/:clientId'
  /** In sentences. */
  readonly ofOwner: string
  /** Whether tokens end with the credential that they were obtained with. */
  readonly haveTokens: boolean
  /** Of the names of the commands. */
  readonly suffix: string
  readonly find: (service: AdminContext, clientId: string) => Promise<CredentialOwner>
}

const applications: Owners = {
  path: '/applications/:clientId',
  ofOwner: 'of an application',
  haveTokens: true,
  suffix: '',
  async find({ storage }, clientId) {
    const found = await storage.applications.findClient(clientId)
    if (!found) throw new NotFoundError(`There is no application with the client ID "${clientId}".`)
    return { ...found.application, secrets: found.secrets, kind: 'applications' }
  },
}

const resourceServers: Owners = {
  path: '/resource-servers/:clientId',
  ofOwner: 'of a resource server',
  haveTokens: false,
  suffix: '-of-resource-server',
  async find({ storage }, clientId) {
    const found = await storage.resourceServers.find(clientId)
    if (!found) throw new NotFoundError(`There is no resource server with the client ID "${clientId}".`)
    return { ...found, kind: 'resourceServers' }
  },
}

function operationsFor({ path, ofOwner, haveTokens, suffix, find }: Owners): AnyOperation[] {
  const tokens = 'the tokens that were obtained with it'
  return [
    operation({
      method: 'post',
      path: `${path}/secrets`,
      command: `rotate-secret${suffix}`,
      summary: `Add a client secret ${ofOwner}; the others expire after the overlap`,
      body: rotation,
      response: newCredentials,
      status: 201,
      async run(service, { params, body, by }) {
        const owner = await find(service, params.clientId)
        const overlapMs = body.overlapSeconds * 1000
        const { clientSecret } = await service.perform(by, (act) => rotateSecret(act, owner, { overlapMs }))
        return { clientId: owner.clientId, clientSecret }
      },
    }),
    operation({
      method: 'delete',
      path: `${path}/secrets/:id`,
      command: { name: `revoke-secret${suffix}`, labels: { id: 'secret-id' } },
      summary: `Revoke a client secret ${ofOwner}${haveTokens ? `, and ${tokens}` : ''}`,
      async run(service, { params, by }) {
        const owner = await find(service, params.clientId)
        await service.perform(by, (act) => revokeSecret(act, owner, params.id))
      },
    }),
    operation({
      method: 'post',
      path: `${path}/keys`,
      command: { name: `add-key${suffix}`, files: ['key'] },
      summary: `Add public keys ${ofOwner}: PEM, a JWK or a JWK set, or the URL of one`,
      body: newKey,
      response: z.array(key),
      status: 201,
      async run(service, { params, body, by }) {
        const owner = await find(service, params.clientId)
        return service.perform(by, (act) => addKeys(act, owner, body))
      },
    }),
    operation({
      method: 'patch',
      path: `${path}/keys/:id`,
      command: { name: `rename-key${suffix}`, labels: { id: 'key-id' } },
      summary: `Rename a public key ${ofOwner}`,
      body: naming,
      async run(service, { params, body, by }) {
        const owner = await find(service, params.clientId)
        await service.perform(by, (act) => renameKey(act, owner, params.id, body.name))
      },
    }),
    operation({
      method: 'delete',
      path: `${path}/keys/:id`,
      command: { name: `remove-key${suffix}`, labels: { id: 'key-id' } },
      summary: `Remove a public key ${ofOwner}${haveTokens ? `, and revoke ${tokens}` : ''}`,
      async run(service, { params, by }) {
        const owner = await find(service, params.clientId)
        await service.perform(by, (act) => removeKey(act, owner, params.id))
      },
    }),
  ]
}

export const applicationCredentials: OperationGroup = {
  heading: 'Applications',
  operations: operationsFor(applications),
}

export const resourceServerCredentials: OperationGroup = {
  heading: 'Resource servers',
  operations: operationsFor(resourceServers),
}

export const expiringCredentials: OperationGroup = {
  heading: 'Applications',
  operations: [
    operation({
      method: 'get',
      path: '/expiring-secrets',
      command: 'expiring-secrets',
      summary: 'List the secrets that expire next, of applications and resource servers',
      query: expiryQuery,
      response: z.array(expiringSecret),
      async run({ clock, activity, storage }, { query: { days, limit } }) {
        const nowMs = clock.now()
        await activity.flush()
        const period = [nowMs, nowMs + days * 86_400_000] as const
        const { items } = await storage.listings.expiringSecrets(period, { limit, offset: 0 })
        return items.map(({ owner: { clientId, name }, ...each }) => ({ clientId, name, ...each }))
      },
    }),
  ],
}
