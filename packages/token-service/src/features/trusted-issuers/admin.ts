import { z } from 'zod'
import { ms, named, operation, type OperationGroup } from '../operation.ts'
import { requireRevision } from '../../storage/revision.ts'
import type { TrustedIssuer } from '../../storage/application.ts'
import { addTrustedIssuer, changeTrustedIssuer, issuerRevision, removeTrustedIssuer } from './acts.ts'
import { trustedIssuerSettings } from './settings.ts'

const trustedIssuer = named(
  'TrustedIssuer',
  trustedIssuerSettings.extend({
    id: z.string(),
    revision: z.string().describe('For `If-Match`, when it is changed.'),
    configured: z.boolean().describe('Whether it is in the configuration, which alone changes it.'),
    createdAtMs: ms,
    lastUsedAtMs: ms.optional(),
  }),
)

const revised = (issuer: TrustedIssuer) => ({ ...issuer, revision: issuerRevision(issuer) })

/** The issuers whose JWTs are exchanged for access tokens. */
export const trustedIssuerOperations: OperationGroup = {
  heading: 'Trusted issuers',
  operations: [
    operation({
      method: 'get',
      path: '/trusted-issuers',
      command: 'trusted-issuers',
      summary: 'List the issuers whose JWTs are grants',
      response: z.array(trustedIssuer),
      async run({ storage, activity }) {
        const issuers = await storage.trustedIssuers.list()
        const lastUses = await activity.lastUses(issuers.map(({ id }) => id))
        return issuers.map((issuer) => ({ ...revised(issuer), lastUsedAtMs: lastUses.get(issuer.id) }))
      },
    }),
    operation({
      method: 'post',
      path: '/trusted-issuers',
      command: { name: 'add-trusted-issuer', bodyFile: true },
      summary: 'Trust an issuer, with rules that map its JWTs to applications',
      body: trustedIssuerSettings,
      response: trustedIssuer,
      status: 201,
      etag: true,
      run: async ({ perform }, { body, by }) =>
        revised(await perform(by, (act) => addTrustedIssuer(act, body))),
    }),
    operation({
      method: 'put',
      path: '/trusted-issuers/:id',
      command: { name: 'change-trusted-issuer', bodyFile: true },
      summary: 'Change a trusted issuer; tokens that have been issued stay valid',
      body: trustedIssuerSettings,
      response: trustedIssuer,
      etag: true,
      ifMatch: 'required',
      run: async ({ perform }, { params, body, by, seen }) =>
        revised(
          await perform(by, (act) =>
            changeTrustedIssuer(act, params.id, (current) => {
              requireRevision('The trusted issuer', issuerRevision(current), seen)
              return body
            }),
          ),
        ),
    }),
    operation({
      method: 'delete',
      path: '/trusted-issuers/:id',
      command: 'remove-trusted-issuer',
      summary: 'Stop trusting an issuer, and revoke the tokens that were issued for its JWTs',
      run: ({ perform }, { params, by }) => perform(by, (act) => removeTrustedIssuer(act, params.id)),
    }),
  ],
}
