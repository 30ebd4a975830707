import { z } from 'zod'
import { applicationSchema, applicationSettings } from '../clients/application-schema.ts'
import { trustedIssuerSettings } from '../clients/trusted-issuers.ts'
import { verification } from './admin-endpoints.ts'

const ms = z.int().describe('Milliseconds since 1970, UTC.')
const id = z.string()
const secret = z.looseObject({
  id,
  prefix: z.string().describe('The first characters of the client secret.'),
  createdAtMs: ms,
  expiresAtMs: ms.optional(),
  lastUsedAtMs: ms.optional(),
})
const key = z.looseObject({
  id,
  name: z.string(),
  createdAtMs: ms,
  expiresAtMs: ms.optional(),
  lastUsedAtMs: ms.optional(),
  jwk: z
    .looseObject({})
    .optional()
    .describe('The public key (RFC 7517, section 4), unless `jwksUrl` is set.'),
  jwksUrl: z.string().optional().describe('The URL of a JWK set (RFC 7517, section 5).'),
})
const owner = { id, clientId: z.string(), name: z.string(), createdAtMs: ms, revision: z.int() }
const credentials = { secrets: z.array(secret), keys: z.array(key) }
/** What the administrators' endpoints respond with. */
export const schemas = {
  Project: z.looseObject({
    id,
    name: z.string(),
    organizationName: z.string(),
    developerEmail: z.string(),
    createdAtMs: ms,
    owners: z.array(z.string()).describe('The names of the developers who own it.'),
  }),
  Application: z.looseObject({
    ...owner,
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
  ResourceServer: z.looseObject({ ...owner, ...credentials }),
  ExpiringSecret: z.looseObject({
    clientId: z.string().describe('Of an application or of a resource server.'),
    name: z.string(),
    id,
    prefix: secret.shape.prefix,
    expiresAtMs: ms,
    lastUsedAtMs: ms.optional(),
  }),
  Developer: z.looseObject({ id, name: z.string(), administrator: z.boolean(), createdAtMs: ms }),
  NewCredentials: z.object({
    clientId: z.string(),
    clientSecret: z.string().describe('Shown in this response only.'),
  }),
  Key: key,
  SigningKey: z.looseObject({
    kid: z.string(),
    algorithm: z.string(),
    state: z.enum(['next', 'current', 'last']),
    createdAtMs: ms,
    expiresAtMs: ms.optional().describe('Until when a `last` key is published.'),
  }),
  TrustedIssuer: trustedIssuerSettings.extend({
    id,
    configured: z.boolean().describe('Whether it is in the configuration, which alone changes it.'),
    createdAtMs: ms,
    lastUsedAtMs: ms.optional(),
  }),
  Invitation: z.looseObject({ id, administrator: z.boolean(), expiresAtMs: ms }),
  InvitationLink: z.object({ id, link: z.string().describe('Can be opened once, within its lifetime.') }),
  Link: z.object({ link: z.string().describe('Can be opened once, within its lifetime.') }),
  AuditVerification: z.object({
    entries: z.int().describe('How many entries the chain has.'),
    checkpoint: verification.shape.checkpoint.describe(
      'The signed end of the chain: keep it outside the database, and send it with a later verification.',
    ),
  }),
}
