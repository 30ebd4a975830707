import { z } from 'zod'
import { ms, named, operation, type OperationGroup } from '../operation.ts'
import { addTrustedIssuer, changeTrustedIssuer, removeTrustedIssuer } from './acts.ts'
import { trustedIssuerSettings } from './settings.ts'

const trustedIssuer = named(
  'TrustedIssuer',
  trustedIssuerSettings.extend({
    id: z.string(),
    configured: z.boolean().describe('Whether it is in the configuration, which alone changes it.'),
    createdAtMs: ms,
    lastUsedAtMs: ms.optional(),
  }),
)

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
        return issuers.map((issuer) => ({ ...issuer, lastUsedAtMs: lastUses.get(issuer.id) }))
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
      run: ({ perform }, { body, by }) => perform(by, (act) => addTrustedIssuer(act, body)),
    }),
    operation({
      method: 'put',
      path: '/trusted-issuers/:id',
      command: { name: 'change-trusted-issuer', bodyFile: true },
      summary: 'Change a trusted issuer; tokens that have been issued stay valid',
      body: trustedIssuerSettings,
      response: trustedIssuer,
      run: ({ perform }, { params, body, by }) =>
        perform(by, (act) => changeTrustedIssuer(act, params.id, body)),
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
