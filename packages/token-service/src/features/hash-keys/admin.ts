import { z } from 'zod'
import { ms, named, operation, type OperationGroup } from '../operation.ts'
import { listHashKeys, removeHashKey } from './acts.ts'

const hashKey = named(
  'HashKey',
  z.looseObject({
    id: z.string(),
    state: z
      .enum(['current', 'older', 'missing', 'removed'])
      .describe(
        'Whether new secrets are hashed with it, it is configured too, it is not configured, or no secret needs it.',
      ),
    secrets: z.int().describe('How many valid secrets only this key can check.'),
    neededBy: z
      .array(
        z.looseObject({
          clientId: z.string().describe('Of an application or of a resource server.'),
          expiresAtMs: ms.optional(),
          lastUsedAtMs: ms.optional(),
        }),
      )
      .describe('The first 1,000 of these secrets.'),
    removedAtMs: ms.optional(),
  }),
)

/** The keys that secrets are hashed with. */
export const hashKeyOperations: OperationGroup = {
  heading: 'Hash keys',
  operations: [
    operation({
      method: 'get',
      path: '/hash-keys',
      command: 'hash-keys',
      summary: 'List the keys that secrets are hashed with, and the clients that still need each',
      response: z.array(hashKey),
      async run({ database, keyring, clock, activity }) {
        await activity.flush()
        return listHashKeys(database, keyring, clock.now())
      },
    }),
    operation({
      method: 'delete',
      path: '/hash-keys/:keyId',
      command: 'remove-hash-key',
      summary: 'Release a hash key that no secret needs, before it is taken out of the configuration',
      async run({ perform, activity }, { params, by }) {
        await activity.flush()
        await perform(by, (act) => removeHashKey(act, params.keyId))
      },
    }),
  ],
}
