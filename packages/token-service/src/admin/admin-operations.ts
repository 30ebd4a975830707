import type { z } from 'zod'
import { trustedIssuerSettings } from '../clients/trusted-issuers.ts'
import type { JsonSchema } from '../http/openapi/json-schema.ts'
import {
  applicationQuery,
  approval,
  auditQuery,
  expiryQuery,
  newApplication,
  newProject,
  decline,
  signingKeyRotation,
  tokenSettings,
  verification,
} from './admin-endpoints.ts'
import { naming } from './admin-request.ts'
import type { schemas } from './admin-schemas.ts'
import { newKey, rotation } from './credential-administration.ts'

import type { Method } from './operation.ts'

export interface Operation {
  readonly summary: string
  readonly body?: z.ZodType
  readonly bodyIsOptional?: true
  readonly query?: z.ZodObject
  /** The response's schema; without one, the response is empty. */
  readonly response?: JsonSchema
  readonly status?: 201
  readonly contentType?: string
}

/** A reference to a schema. */
export const one = (name: keyof typeof schemas): JsonSchema => ({ $ref: `#/components/schemas/${name}` })
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

function credentialOperations(path: string, ofOwner: string): [Method, string, Operation][] {
  return [
    [
      'post',
      `${path}/secrets`,
      {
        summary: `Add a client secret ${ofOwner}; the others expire after the overlap`,
        body: rotation,
        bodyIsOptional: true,
        response: one('NewCredentials'),
        status: 201,
      },
    ],
    ['delete', `${path}/secrets/{id}`, { summary: `Revoke a client secret ${ofOwner}` }],
    [
      'post',
      `${path}/keys`,
      {
        summary: `Add public keys ${ofOwner}: PEM, a JWK or a JWK set, or the URL of one`,
        body: newKey,
        response: listOf(one('Key')),
        status: 201,
      },
    ],
    ['patch', `${path}/keys/{id}`, { summary: `Rename a public key ${ofOwner}`, body: naming }],
    ['delete', `${path}/keys/{id}`, { summary: `Remove a public key ${ofOwner}` }],
  ]
}

const application = '/applications/{clientId}'
const resourceServer = '/resource-servers/{clientId}'
/** The operations of the administrators' HTTP API, in the order of its document. */
export const adminOperations: [Method, string, Operation][] = [
  ['get', '/projects', { summary: 'List projects', response: listOf(one('Project')) }],
  [
    'post',
    '/projects',
    { summary: 'Create a project', body: newProject, response: one('Project'), status: 201 },
  ],
  [
    'get',
    '/applications',
    {
      summary: 'List applications; `Link` has the URL of the next page',
      query: applicationQuery,
      response: listOf(one('Application')),
    },
  ],
  [
    'post',
    '/applications',
    {
      summary: 'Create an approved application',
      body: newApplication,
      response: one('NewCredentials'),
      status: 201,
    },
  ],
  ['get', application, { summary: 'Get an application', response: one('Application') }],
  [
    'patch',
    application,
    {
      summary: 'Change the format, the audiences or further claims of the tokens of an application',
      body: tokenSettings,
      response: one('Application'),
    },
  ],
  [
    'post',
    `${application}/approve`,
    {
      summary: 'Approve an application, at the given revision only if there is one',
      body: approval,
      bodyIsOptional: true,
      response: one('Application'),
    },
  ],
  [
    'post',
    `${application}/decline`,
    {
      summary: 'Decline a new application, or the changes that its owner requests',
      body: decline,
      bodyIsOptional: true,
      response: one('Application'),
    },
  ],
  [
    'post',
    `${application}/revoke`,
    { summary: 'Revoke an application and its tokens', response: one('Application') },
  ],
  [
    'post',
    `${application}/revoke-tokens`,
    { summary: 'Revoke all tokens of an application', response: one('Application') },
  ],
  ...credentialOperations(application, 'of an application'),
  ['get', '/products', { summary: 'List products', response: listOf({ type: 'string' }) }],
  ['put', '/products/{id}', { summary: 'Add a product' }],
  ['delete', '/products/{id}', { summary: 'Remove a product' }],
  ['get', '/scopes', { summary: 'List scopes', response: listOf({ type: 'string' }) }],
  ['put', '/scopes/{id}', { summary: 'Add a scope' }],
  ['delete', '/scopes/{id}', { summary: 'Remove a scope' }],
  [
    'get',
    '/signing-keys',
    { summary: 'List the keys of JWT access tokens', response: listOf(one('SigningKey')) },
  ],
  [
    'post',
    '/signing-keys/rotation',
    {
      summary: 'Rotate the signing key, or replace all signing keys without an overlap (`emergency`)',
      body: signingKeyRotation,
      bodyIsOptional: true,
      response: listOf(one('SigningKey')),
    },
  ],
  ['get', '/resource-servers', { summary: 'List resource servers', response: listOf(one('ResourceServer')) }],
  [
    'post',
    '/resource-servers',
    { summary: 'Create a resource server', body: naming, response: one('NewCredentials'), status: 201 },
  ],
  ['get', resourceServer, { summary: 'Get a resource server', response: one('ResourceServer') }],
  ['patch', resourceServer, { summary: 'Rename a resource server', body: naming }],
  ['delete', resourceServer, { summary: 'Remove a resource server' }],
  ...credentialOperations(resourceServer, 'of a resource server'),
  [
    'get',
    '/expiring-secrets',
    {
      summary: 'List the secrets that expire next, of applications and resource servers',
      query: expiryQuery,
      response: listOf(one('ExpiringSecret')),
    },
  ],
  [
    'get',
    '/trusted-issuers',
    { summary: 'List the issuers whose JWTs are grants', response: listOf(one('TrustedIssuer')) },
  ],
  [
    'post',
    '/trusted-issuers',
    {
      summary: 'Trust an issuer, with rules that map its JWTs to applications',
      body: trustedIssuerSettings,
      response: one('TrustedIssuer'),
      status: 201,
    },
  ],
  [
    'put',
    '/trusted-issuers/{id}',
    {
      summary: 'Change a trusted issuer; tokens that have been issued stay valid',
      body: trustedIssuerSettings,
      response: one('TrustedIssuer'),
    },
  ],
  [
    'delete',
    '/trusted-issuers/{id}',
    { summary: 'Stop trusting an issuer, and revoke the tokens that were issued for its JWTs' },
  ],
  [
    'get',
    '/developers',
    { summary: 'List the developers of the portal', response: listOf(one('Developer')) },
  ],
  [
    'post',
    '/invitations',
    { summary: 'Create an invitation to the portal', response: one('InvitationLink'), status: 201 },
  ],
  [
    'get',
    '/invitations',
    { summary: 'List the invitations that nobody has accepted', response: listOf(one('Invitation')) },
  ],
  ['delete', '/invitations/{id}', { summary: 'Withdraw an invitation' }],
  [
    'post',
    '/developers/{id}/password-link',
    {
      summary: 'Create a link to set a new password, by the name of a developer',
      response: one('Link'),
      status: 201,
    },
  ],
  ['post', '/developers/{id}/promote', { summary: 'Make a developer an administrator, by name' }],
  ['post', '/developers/{id}/demote', { summary: 'Make an administrator a developer, by name' }],
  ['delete', '/developers/{id}', { summary: 'Remove a developer, by name' }],
  [
    'get',
    '/audit',
    {
      summary: 'Read the audit log as JSON lines, the newest first',
      query: auditQuery,
      response: { type: 'string' },
      contentType: 'application/x-ndjson',
    },
  ],
  [
    'post',
    '/audit/verification',
    {
      summary: 'Check that no entry of the audit log was removed, changed or added',
      body: verification,
      bodyIsOptional: true,
      response: one('AuditVerification'),
    },
  ],
  [
    'post',
    '/clock/confirmation',
    { summary: 'Confirm the clock, if nothing is deleted because it is ahead of the last purge' },
  ],
]
